// How far a run is: its stages, its speed, and how long it may still take.
import { h, put } from './dom.js';
import { count, duration, number } from './words.js';

const WINDOW = 30; // seconds over which a speed is measured

/** Speeds from what a run has said of its counts, with the seconds of work it had done. */
export class Speed {
  constructor() {
    this.seen = [];
  }

  hear(live) {
    const last = this.seen.at(-1);
    // A new stage counts from nothing.
    if (last && (live.stage !== last.stage || live.evaluations < last.evaluations || live.at < last.at)) this.seen = [];
    if (last?.at === live.at) return;
    this.seen.push({ stage: live.stage, at: live.at, evaluations: live.evaluations, playouts: live.playouts });
    while (this.seen.length > 2 && live.at - this.seen[0].at > WINDOW) this.seen.shift();
  }

  /** What is counted per second, over the last half minute; null before two counts. */
  of(key) {
    const [first, last] = [this.seen[0], this.seen.at(-1)];
    const seconds = last ? last.at - first.at : 0;
    return seconds > 0 ? (last[key] - first[key]) / seconds : null;
  }

  get seconds() {
    return this.seen.length ? this.seen.at(-1).at - this.seen[0].at : 0;
  }
}

/** The longest that is left, if every stage spends its whole budget at the present speed; and on what that rests. */
export function estimate(run, live, speed) {
  const rate = speed.of('playouts');
  if (!rate || !live.budget) return null;
  const left = Math.max(0, live.budget - live.playouts);
  const later = run.stage_names.slice(live.stage + 1).map((_, nth) => run.budgets[live.stage + 1 + nth] ?? live.budget);
  const all = left + later.reduce((sum, budget) => sum + budget, 0);
  const basis = `${count(all)} playouts are left in the ${later.length ? `budgets of ${later.length + 1} stages` : 'budget'}, at ${number(rate)} playouts/s in the last ${duration(speed.seconds)} of work; a stage often ends before its budget is spent`;
  return { seconds: all / rate, basis };
}

/** The stages in order: done, at work, to come. */
export function stages(run, live, works) {
  const items = run.stage_names.map((name, nth) => {
    const done = run.stages[nth];
    const here = !done && nth === (live?.stage ?? run.stages.length) && run.row.evaluations > 0;
    const found = done && (done.found ? 'found' : 'missed');
    const sign = done ? (done.found ? '✓' : '✗') : here ? (works ? '●' : '◐') : '○';
    const word = done ? (done.found ? 'found' : 'not found') : here ? (works ? 'at work' : 'begun') : 'to come';
    const edits = run.edits?.[nth];
    return h('li', { class: found ?? (here ? 'here' : 'next'), 'aria-current': here ? 'step' : undefined },
      h('span', { class: 'mark', 'aria-hidden': 'true' }, sign), h('span', null, h('b', null, name), h('small', null, ` ${word}${edits ? `, ${edits === 1 ? '1 edit' : `${edits} edits`}` : ''}`)));
  });
  return h('ol', { class: 'stages' }, items);
}

/** The counts of a stage at work, kept up to date in place. */
export function meter() {
  const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Playouts of this stage' });
  const cells = {};
  const names = ['Stage', 'Playouts', 'Evaluations', 'Programs seen', 'Evaluations per second', 'Work so far', 'Time left'];
  const list = h('dl', { class: 'meter' }, names.map((name) => h('div', null, h('dt', null, name), cells[name] = h('dd', null, '–'))));
  const doing = h('p', { class: 'note' });
  return {
    element: h('div', null, bar, list, doing),
    show(run, live, speed) {
      if (live.budget) [bar.max, bar.value] = [live.budget, Math.min(live.playouts, live.budget)];
      bar.textContent = `${count(live.playouts)} of ${count(live.budget)}`;
      const say = (name, ...words) => put(cells[name], words);
      say('Stage', `${live.stage + 1} of ${Math.max(run.stage_names.length, live.stage + 1)}: ${live.name}`);
      say('Playouts', `${count(live.playouts)}${live.budget ? ` of at most ${count(live.budget)}` : ''}`);
      say('Evaluations', count(live.evaluations));
      say('Programs seen', count(live.unique_states));
      const rate = speed.of('evaluations');
      say('Evaluations per second', rate === null ? '–' : number(rate));
      say('Work so far', duration(live.at));
      const left = estimate(run, live, speed);
      say('Time left', left ? [`at most ${duration(left.seconds)}`, h('small', null, left.basis)] : 'not known yet');
      doing.textContent = live.doing ?? '';
    },
  };
}
