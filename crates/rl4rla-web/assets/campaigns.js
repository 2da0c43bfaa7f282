// How campaigns go: asked for every few seconds while one looks.
import { get } from './api.js';
import { bar, patterns } from './campaign-bar.js';
import { code, facts, failure, h, put, table } from './dom.js';
import { count, roughly, several } from './words.js';

const EVERY = 5000;
const FEW = 5; // failures and submissions that are shown without being opened
const LENIENT = 3; // fruitless requests before anything is said; the server may just be starting again

export default async function view(frame) {
  const holder = h('div');
  const said = h('div');
  const shown = new Map();
  let timer;
  let asking = false;
  let closed = false;
  let missed = 0;
  put(frame.main, h('h1', null, 'Campaigns'), patterns(), said, holder);

  function draw(items) {
    if (!items.length) put(holder, h('div', { class: 'empty' }, h('p', null, 'This server shows no campaigns. Name their folders when you start it:'), code('rl4rla serve --campaign FOLDER', 'the command')));
    items.forEach((item) => {
      if (!shown.has(item.place)) {
        shown.set(item.place, campaign());
        holder.append(shown.get(item.place).element);
      }
      shown.get(item.place).show(item);
    });
  }

  async function load() {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      const items = await get('campaigns');
      missed = 0;
      if (!closed) {
        put(said);
        draw(items);
      }
    } catch (error) {
      missed++;
      if (!closed && (missed >= LENIENT || !shown.size)) put(said, failure(error));
    }
    asking = false;
    if (!closed && !document.hidden) timer = setTimeout(load, EVERY);
  }

  const seen = () => (document.hidden ? clearTimeout(timer) : load());
  document.addEventListener('visibilitychange', seen);
  await load();
  return {
    refresh: load,
    close() {
      closed = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    },
  };
}

/** A part of what is shown, drawn again only when it has changed: whoever reads or copies it is not disturbed. */
function part(drawn) {
  const holder = h('div');
  let before;
  return {
    element: holder,
    show(given) {
      const key = JSON.stringify(given);
      if (key === before) return;
      before = key;
      const open = holder.querySelector('details')?.open;
      put(holder, drawn(given));
      // What was opened stays open.
      const details = holder.querySelector('details');
      if (details && open !== undefined) details.open = open;
    },
  };
}

/** One campaign. */
function campaign() {
  const parts = {
    head: part(({ status, folder }) => [h('h2', null, status?.title || folder), status && facts([['Campaign', status.campaign], ['Folder', status.folder], ['Build', status.build]])]),
    error: part((error) => error && failure(error)),
    tasks: part((status) => status && tasks(status)),
    notes: part((notes) => notes?.map((note) => h('p', { class: 'remark words' }, note))),
    searches: part((rows) => rows?.length > 0 && searches(rows)),
    failures: part((status) => status && failures(status)),
    submissions: part((rows) => rows && submissions(rows)),
    next: part((status) => status && next(status)),
  };
  return {
    element: h('section', { class: 'campaign' }, Object.values(parts).map((one) => one.element)),
    show({ status, folder, error }) {
      const { campaign: id, title, build } = status ?? {};
      const waits = !status && !error;
      parts.head.show({ folder, status: status && { campaign: id, title, folder: status.folder, build } });
      parts.error.show(waits ? null : error);
      parts.tasks.show(waits ? { waits } : status && counts(status));
      parts.notes.show(status?.notes);
      parts.searches.show(status?.searches);
      parts.failures.show(status && { failures: status.failures, failed: status.failed });
      parts.submissions.show(status?.submissions);
      parts.next.show(status && { ...counts(status), folder: status.folder, submitted: status.submissions.length > 0, active: status.submissions.some((one) => one.active > 0) });
    },
  };
}

const counts = ({ tasks: all, done, found, running, waiting, failed, lost, complete, seconds_left }) => ({ tasks: all, done, found, running, waiting, failed, lost, complete, seconds_left });

function tasks(status) {
  if (status.waits) return h('p', { class: 'empty' }, 'The folder is being read …');
  // Whole percents, but 100 only when nothing is missing.
  const share = status.tasks ? Math.floor((100 * status.done) / status.tasks) : 0;
  const known = status.seconds_left !== null && status.seconds_left !== undefined;
  return [h('p', { class: 'far' }, h('b', null, `${count(status.done)} of ${several(status.tasks, 'task')}`), ` done, ${share} %. `,
    status.complete ? h('span', { class: 'state done' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, '✓'), ' The campaign is complete.')
      : known ? `Time left: ${roughly(status.seconds_left)}.` : 'Time left: not known while nothing is computed.'), bar(status)];
}

/** A share with a digit after the point: thousands of tasks tell as much. */
const tenth = (share) => `${(100 * share).toFixed(1)}\u00a0%`;

function searches(rows) {
  const kinds = new Set(rows.map((row) => row.kind)).size > 1;
  const any = (head, key) => rows.some((row) => row[key] > 0) && { head, number: true, cell: (row) => count(row[key]) };
  return [h('h3', null, 'Searches'), table([
    { head: 'Search', cell: (row) => h('span', null, row.name, kinds && h('small', null, ` ${row.kind}`)) },
    { head: 'Method', cell: (row) => row.label },
    { head: 'Done', number: true, cell: (row) => `${count(row.done)} of ${count(row.tasks)}` },
    { head: 'Found', number: true, cell: (row) => (row.done ? `${count(row.found)} of ${count(row.done)}` : null) },
    { head: '95 % interval', number: true, cell: (row) => (row.interval ? `${tenth(row.interval[0])} to ${tenth(row.interval[1])}` : null) },
    any('Failed', 'failed'), any('Lost', 'lost'),
  ].filter(Boolean), rows)];
}

function failures({ failures: shown, failed }) {
  const head = `${several(failed, 'task')} failed`;
  return failed > 0 && h('details', { open: shown.length <= FEW }, h('summary', null, failed > shown.length ? `${head}; these are the first ${count(shown.length)}` : head), table([
    { head: 'What', long: true, cell: (one) => one.what },
    { head: 'Task', number: true, cell: (one) => String(one.task) },
    { head: 'Reason', long: true, cell: (one) => h('span', { class: 'words' }, one.reason) },
    ...(shown.some((one) => one.advice) ? [{ head: 'What to do', long: true, cell: (one) => one.advice && h('span', { class: 'words' }, one.advice) }] : []),
  ], shown));
}

const COMPUTERS = { slurm: 'Slurm', local: 'one machine' };

function submissions(rows) {
  if (!rows.length) return null;
  const active = rows.reduce((sum, row) => sum + row.active, 0);
  return h('details', { open: rows.length <= FEW }, h('summary', null, `${several(rows.length, 'submission')}, ${active ? `${several(active, 'chunk')} queued or running` : 'nothing going on'}`), table([
    { head: 'Where', long: true, cell: (row) => row.where },
    { head: 'Submission', number: true, cell: (row) => String(row.number) },
    { head: 'On', cell: (row) => COMPUTERS[row.on] ?? row.on },
    { head: 'Chunks', number: true, cell: (row) => count(row.chunks) },
    { head: 'Queued or running', number: true, cell: (row) => count(row.active) },
  ], rows));
}

/** A word of a command line, as a shell takes it. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** What to type next; the command itself says the same in a terminal. */
function next({ complete, running, waiting, failed, lost, folder, submitted, active }) {
  const command = (words, what) => [h('p', { class: 'note' }, words), code(`rl4rla campaign ${what} ${quoted(folder)}`, 'the command')];
  const are = (tasks) => `${several(tasks, 'task')} ${tasks === 1 ? 'is' : 'are'}`;
  if (complete) return command('All results are there. To enter them into a store:', 'collect');
  if (!submitted) return command('Nothing has been handed out yet. To begin:', 'submit');
  if (lost) return command(`${are(lost)} in nobody’s hands any more. To hand out what is missing:`, 'resume');
  if (waiting && !active) return command(`${are(waiting)} not handed out. To do so:`, 'resume');
  if (failed) return command(`${several(failed, 'task')} failed. To compute them again${running || active ? ', when the others are over' : ''}:`, 'resume --failed');
  return null;
}
