// What came of a run: its stages, and the hall of an exploration.
import { code, facts, h, link, put, table } from './dom.js';
import { figure } from './charts.js';
import { equation, formula } from './equation.js';
import { runPath } from './api.js';
import { count, duration, number, percent, short } from './words.js';

const LIMITS = { kappa: 'condition number', leverage: 'leverage', 'less-outside': 'b nearer to the range of A', 'more-outside': 'b farther from the range of A', tolerance: 'tolerance' };

/** One stage with its program, figures and front. */
function stage(run, record, nth) {
  const id = run.row.id;
  const place = `run:${id}/${record.name}`;
  const drawings = h('div', { class: 'panels two' });
  const figures = h('details', { ontoggle: () => {
    if (!figures.open || drawings.firstChild) return;
    for (const [name, words] of [['front', 'Pareto front'], ['history', 'Convergence history']]) {
      const holder = h('figure', null, h('figcaption', null, words));
      drawings.append(holder);
      figure(`/api/${runPath(id, `/figures/${name}-${nth}`)}`).then((drawn) => holder.append(drawn), (error) => holder.append(h('p', { class: 'note' }, error.message)));
    }
  } }, h('summary', null, 'Figures'), drawings);
  return h('article', { class: `finding ${record.found ? 'found' : 'missed'}` },
    h('h3', null, h('span', { class: 'mark', 'aria-hidden': 'true' }, record.found ? '✓' : '✗'), ` ${record.name} `, h('small', null, record.found ? 'found' : 'not found')),
    record.reason && h('p', { class: 'words' }, record.reason), equation(record.equation),
    h('div', { class: 'split' }, h('div', null, code(record.program, `the program of ${record.name}`)), h('div', null, facts([
      ['Program', record.matched ? link(record.matched, 'program', { of: record.matched }) : 'no name in the catalogue'],
      ['Reward', record.reward === null ? null : `${number(record.reward)} ± ${number(record.reward_error)}`],
      ['Excess', record.excess === null ? null : number(record.excess)],
      ['Flops', record.flops ? short(record.flops) : null],
      ['Evaluations', count(record.evaluations)], ['Playouts', count(record.playouts)], ['Programs', count(record.programs)],
      ['Transpositions', record.transposition_rate ? percent(record.transposition_rate) : null],
      ['Ended', record.stop], ['Form', record.form], ['Time', duration(record.seconds)],
    ]), h('p', { class: 'actions' }, link('Open the program', 'program', { of: place }), link('Open the search graph', 'graph', id, { stage: nth })))),
    record.front?.length > 0 && h('details', null, h('summary', null, `${record.front.length} ${record.front.length === 1 ? 'program' : 'programs'} on the Pareto front`), table([
      { head: 'Program', long: true, cell: (one) => link(one.name ?? formula(one.equation), 'program', one.name ? { of: one.name } : { text: one.program }) },
      { head: 'Reward', number: true, cell: (one) => number(one.reward) }, { head: 'Excess', number: true, cell: (one) => number(one.excess) },
      { head: 'Flops', number: true, cell: (one) => short(one.flops) }, { head: 'Condition', number: true, cell: (one) => short(one.condition) },
    ], record.front)), figures);
}

/** The hall of fame of an exploration, beside its rivals. */
function hall(run, record) {
  const name = (one) => one.matched ?? (one.nearest ? `near ${one.nearest}` : 'new');
  const programs = record.hall.map((one) => h('article', { class: 'finding found' },
    h('h3', null, `${one.place}. ${name(one)} `, h('small', null, `reached the tolerance in ${one.reached} of ${one.runs} runs`)), equation(one.equation),
    h('div', { class: 'split' }, h('div', null, code(one.program, `program ${one.place}`)), h('div', null, facts([
      ['Reward', `${number(one.reward)} ± ${number(one.reward_error)}`], ['Flops', short(one.flops)], ['Passes over A', short(one.passes)],
      ['Iterations', one.iterations === null ? null : `${short(one.iterations)} (${(one.iterations_range ?? []).map(short).join(' to ')})`],
      ['Step', short(one.step)], ['Sketch', one.sketch && `${one.sketch}, ${short(one.sketch_factor)} rows per column`],
    ]), h('p', { class: 'actions' }, link('Open the program', 'program', { of: `run:${run.row.id}#${one.place}` })))),
    one.limits?.length > 0 && h('details', null, h('summary', null, 'Where it stops working'), table([
      { head: 'Difficulty', cell: (limit) => LIMITS[limit.what] ?? limit.what }, { head: 'Works to', number: true, cell: (limit) => short(limit.works) },
      { head: 'Fails at', number: true, cell: (limit) => (limit.fails === null ? 'nowhere tried' : short(limit.fails)) }, { head: 'How', cell: (limit) => limit.how },
    ], one.limits))));
  return [h('h2', null, 'Hall of fame'), programs, record.rivals?.length > 0 && h('details', null, h('summary', null, `${record.rivals.length} known programs on the same problems`), table([
    { head: 'Program', cell: (one) => link(one.name, 'program', { of: one.name }) }, { head: 'Reward', number: true, cell: (one) => number(one.reward) },
    { head: 'Flops', number: true, cell: (one) => short(one.flops) }, { head: 'Passes', number: true, cell: (one) => short(one.passes) },
    { head: 'Iterations', number: true, cell: (one) => short(one.iterations) }, { head: 'Reached', number: true, cell: (one) => `${one.reached} of ${one.runs}` },
  ], record.rivals))];
}

/** All finished stages of a run. */
export function results(run) {
  const holder = h('section', null);
  let shown = -1;
  return {
    element: holder,
    show(next) {
      const finished = next.stages.length + (next.record ? 1000 : 0);
      if (finished === shown) return;
      shown = finished;
      if (next.record?.hall?.length) put(holder, hall(next, next.record));
      else put(holder, next.stages.length > 0 && h('h2', null, 'Results'), next.stages.map((record, nth) => stage(next, record, nth)));
    },
  };
}

/** What a run was asked to do. */
export function request(run) {
  const words = (value) => (Array.isArray(value) ? value.map(words).join(', ') : Number.isInteger(value) ? count(value) : typeof value === 'number' ? short(value) : String(value));
  // Settings within settings, such as those of the search, are said one by one.
  const flat = (object) => Object.entries(object).flatMap(([name, value]) => (value && typeof value === 'object' && !Array.isArray(value) ? flat(value) : [[name, value]]));
  const settings = flat(run.settings ?? {}).filter(([, value]) => value !== null && !(Array.isArray(value) && !value.length)).map(([name, value]) => [name, words(value)]);
  return h('section', null, h('h2', null, 'Request'), facts([['Build', `${run.build.version}, ${run.build.digest}`], ...settings]),
    run.spec && h('details', null, h('summary', null, 'Curriculum as TOML'), code(run.spec, 'the curriculum')));
}
