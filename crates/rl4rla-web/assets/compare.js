// Runs and methods side by side: how often they succeed, and what it takes.
import { get } from './api.js';
import { chart, intervals } from './charts.js';
import { choice, failure, field, h, link, put, table } from './dom.js';
import { count, duration, percent, several } from './words.js';

const MOST = 200; // runs at a time

export default async function view(frame, _rest, query) {
  const holder = h('div');
  const filters = h('div', { class: 'filters' });
  let ids = (query.get('runs') ?? '').split(',').filter(Boolean);
  let wanted = query.get('curriculum') ?? '';
  const heading = h('p', { class: 'lead' }, 'Success by curriculum and method, and the evaluations that it took.');
  put(frame.main, h('h1', null, 'Compare runs and methods'), heading, filters, holder);

  const listed = await get('runs', { limit: 1 });
  const all = choice([{ value: '', text: ids.length ? 'the runs chosen' : 'choose …' }, ...listed.curricula], wanted, { onchange: () => {
    wanted = all.value;
    if (wanted) ids = [];
    frame.keep('compare', wanted ? { curriculum: wanted } : {});
    load();
  } });
  put(filters, field('All runs of a curriculum', all, `the newest ${MOST} that are done`));

  async function load() {
    try {
      let total = ids.length;
      if (wanted) {
        const answer = await get('runs', { curriculum: wanted, status: 'done', limit: MOST });
        ids = answer.items.map((row) => row.id);
        total = answer.matching;
      }
      if (!ids.length) {
        put(holder, h('p', { class: 'empty' }, wanted ? 'No run of this curriculum is done.' : ['Choose a curriculum, or mark runs in the ', link('list of runs', 'runs'), ' and compare them.']));
        return;
      }
      const { groups } = await get('compare', { runs: ids.slice(0, MOST).join(',') });
      put(holder, draw(groups), total > ids.length && h('p', { class: 'note' }, `The newest ${count(ids.length)} of ${several(total, 'run')}.`));
    } catch (error) {
      put(holder, failure(error));
    }
  }
  await load();
  return { refresh: load };
}

/** Groups get a colour by their method, the same in every figure. */
function draw(groups) {
  const methods = [...new Set(groups.map((group) => group.method))];
  const many = new Set(groups.map((group) => group.curriculum)).size > 1;
  const name = (group) => (many ? `${group.curriculum}, ${group.method}` : group.method);
  const rate = (group) => (group.seeds ? group.successes / group.seeds : 0);
  // Runs that have not ended say nothing of success.
  const rows = groups.filter((group) => group.interval).map((group) => ({ name: name(group), value: rate(group), low: group.interval[0], high: group.interval[1], ink: methods.indexOf(group.method), words: `${group.successes} of ${group.seeds}` }));
  const figure = chart('Evaluations to the target, run by run');
  const spread = groups.map((group, nth) => ({
    ink: methods.indexOf(group.method), line: false, marks: true, size: 4,
    points: group.runs.filter((run) => run.found).map((run) => [Math.max(1, run.evaluations), nth]),
    titles: group.runs.filter((run) => run.found).map((run) => `${name(group)}, seed ${run.seed}: ${count(run.evaluations)} evaluations`),
  }));
  figure.show({ series: spread, x: { label: 'evaluations', log: true }, y: { rows: groups.map(name) }, height: 60 + 44 * groups.length });
  return [
    h('section', null, h('h2', null, 'Success'), h('p', { class: 'note' }, 'Share of seeds that found every target, with 95 % intervals.'), rows.length > 0 && intervals('Success of each group', rows), table([
      { head: 'Curriculum', cell: (group) => group.curriculum }, { head: 'Method', cell: (group) => group.method },
      { head: 'Found', number: true, cell: (group) => `${group.successes} of ${group.seeds}` },
      { head: 'Success', number: true, cell: (group) => (group.interval ? `${percent(rate(group))} (${percent(group.interval[0])} to ${percent(group.interval[1])})` : null) },
      { head: 'Evaluations, median', number: true, cell: (group) => count(group.evaluations?.median) },
      { head: '95 % interval, or range of fewer than six', number: true, cell: (group) => (group.evaluations ? `${count(group.evaluations.low)} to ${count(group.evaluations.high)}` : '–') },
    ], groups)),
    h('section', null, h('h2', null, 'Evaluations to the target'), h('p', { class: 'note' }, 'One point for each run that found its targets.'), figure.element),
    h('section', null, h('h2', null, 'Runs'), groups.map((group) => h('details', { open: groups.length === 1 && group.runs.length <= 20 }, h('summary', null, `${name(group)}: ${several(group.runs.length, 'run')}`), table([
      { head: 'Run', cell: (run) => link(run.id, 'run', run.id) }, { head: 'Seed', number: true, cell: (run) => String(run.seed) },
      { head: 'Result', cell: (run) => (run.found === null ? '–' : run.found ? 'found' : 'not found') },
      { head: 'Evaluations', number: true, cell: (run) => count(run.evaluations) }, { head: 'Time', number: true, cell: (run) => duration(run.seconds) },
    ], group.runs)))),
  ];
}
