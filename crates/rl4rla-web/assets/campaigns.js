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
    error: part((error) => error && failure({ message: error.message, advice: error.advice && tried(error.advice) })),
    tasks: part((status) => status && tasks(status)),
    notes: part((notes) => notes?.map((note) => h('p', { class: 'remark words' }, note))),
    searches: part((status) => status?.searches.length > 0 && searches(status)),
    failures: part((status) => status && failures(status)),
    submissions: part((rows) => rows && submissions(rows)),
    next: part((next) => next && [h('p', { class: 'note' }, `${next.words[0].toUpperCase()}${next.words.slice(1)}:`), code(next.command, 'the command')]),
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
      parts.searches.show(status && { searches: status.searches, left: status.searches_left_out });
      parts.failures.show(status && { failures: status.failures, failed: status.failed });
      parts.submissions.show(status?.submissions);
      parts.next.show(status?.next);
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

function searches({ searches: rows, left }) {
  const kinds = new Set(rows.map((row) => row.kind)).size > 1;
  const any = (head, key) => rows.some((row) => row[key] > 0) && { head, number: true, cell: (row) => count(row[key]) };
  return [h('h3', null, 'Searches'), table([
    { head: 'Search', cell: (row) => h('span', null, row.name, kinds && h('small', null, ` ${row.kind}`)) },
    { head: 'Settings', cell: (row) => row.label },
    { head: 'Done', number: true, cell: (row) => `${count(row.done)} of ${count(row.tasks)}` },
    { head: 'Found', number: true, cell: (row) => (row.done ? `${count(row.found)} of ${count(row.done)}` : null) },
    { head: '95 % interval', number: true, cell: (row) => (row.interval ? `${tenth(row.interval[0])} to ${tenth(row.interval[1])}` : null) },
    any('Failed', 'failed'), any('Lost', 'lost'),
  ].filter(Boolean), rows), left > 0 && h('p', { class: 'note' }, `and ${several(left, 'other')}; `, h('code', null, 'rl4rla campaign status --json'), ' has all')];
}

/** Advice as the command words it. */
const tried = (advice) => `try: ${advice}`;

/** Failed tasks; those with the same reason are one row. */
function failures({ failures: shown, failed }) {
  const reasons = new Map();
  shown.forEach((one) => {
    const key = JSON.stringify([one.reason, one.advice]);
    reasons.set(key, [...(reasons.get(key) ?? []), one]);
  });
  const rows = [...reasons.values()];
  const head = `${several(failed, 'task')} failed`;
  return failed > 0 && h('details', { open: rows.length <= FEW }, h('summary', null, failed > shown.length ? `${head}; the first ${count(shown.length)}` : head), table([
    { head: 'First task', long: true, cell: ([first]) => `${first.what} (task ${first.task})` },
    { head: 'Tasks', number: true, cell: (row) => count(row.length) },
    { head: 'Reason', long: true, cell: ([{ reason, advice }]) => [h('span', { class: 'words' }, reason), advice && h('div', { class: 'words' }, tried(advice))].filter(Boolean) },
  ], rows));
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
