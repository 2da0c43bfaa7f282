// A run at work: the best program so far, its reward and the parts of it, and the front as it moves.
import { code, h, link, put, table } from './dom.js';
import { chart } from './charts.js';
import { equation, formula } from './equation.js';
import { count, number, short } from './words.js';

const TERMS = ['acc', 'decay', 'comp', 'cond'];

/** The link to a program that has no name. */
export const programLink = (text, program) => link(text, 'program', { text: program });

/** The best program, in a box that is only redrawn when another one leads. */
export function leader() {
  const holder = h('article', { class: 'finding found best', hidden: true });
  let shown = null;
  return {
    element: holder,
    show(best, terms) {
      holder.hidden = !best;
      const parts = Object.entries(terms ?? {}).filter(([, value]) => value !== null);
      const key = best && JSON.stringify([best.program, best.reward, parts]);
      if (!best || key === shown) return;
      shown = key;
      put(holder, h('h3', null, 'Best program so far ', h('small', null, 'reward ', h('b', null, number(best.reward)))), equation(best.equation), code(best.program, 'the program'),
        parts.length > 0 && h('dl', { class: 'meter' }, parts.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, number(value))))),
        h('p', null, programLink('Open this program', best.program)));
    },
  };
}

/** The reward of the best program and its parts over the evaluations of a stage. */
export function rewards() {
  const figure = chart('Reward of the best program over evaluations');
  const list = h('div');
  return {
    element: h('div', null, figure.element, list),
    show(stage) {
      const points = (stage?.points ?? []).filter((point) => point.best !== null && point.best !== undefined);
      const leaders = stage?.leaders ?? [];
      const end = points.at(-1)?.evaluations ?? leaders.at(-1)?.evaluations ?? 0;
      const best = leaders.length ? leaders.map((one) => [one.evaluations, one.reward]) : points.map((one) => [one.evaluations, one.best]);
      if (best.length && best.at(-1)[0] < end) best.push([end, best.at(-1)[1]]);
      const names = [...new Set([...TERMS, ...leaders.flatMap((one) => Object.keys(one.terms ?? {}))])];
      const parts = names.map((name, nth) => {
        const values = leaders.filter((one) => Number.isFinite(one.terms?.[name])).map((one) => [one.evaluations, one.terms[name]]);
        if (values.length && values.at(-1)[0] < end) values.push([end, values.at(-1)[1]]);
        return { name, points: values, ink: nth + 1, stepped: true, faint: true };
      });
      figure.show({ series: [...parts, { name: 'reward', points: best, ink: 0, stepped: true, thick: true }], x: { label: 'evaluations', zero: true }, y: { label: 'reward and its parts' } });
      put(list, leaders.length > 0 && h('details', null, h('summary', null, `${count(leaders.length)} ${leaders.length === 1 ? 'program has' : 'programs have'} led`), table([
        { head: 'Equation', long: true, cell: (one) => programLink(formula(one.equation || one.program), one.program) },
        { head: 'Evaluations', number: true, cell: (one) => count(one.evaluations) },
        { head: 'Reward', number: true, cell: (one) => number(one.reward) },
        ...names.filter((name) => leaders.some((one) => Number.isFinite(one.terms?.[name]))).map((name) => ({ head: name, number: true, cell: (one) => number(one.terms?.[name]) })),
      ], [...leaders].reverse().slice(0, 20))));
    },
  };
}

/** The Pareto front: excess against work; where it was a moment ago is shown faintly. */
export function front() {
  const figure = chart('Pareto front of excess and work');
  const list = h('div');
  let before = [];
  let now = [];
  let shown = '';
  return {
    element: h('div', null, figure.element, list),
    show(points) {
      const sorted = [...points].filter((one) => one.flops > 0 && one.excess >= 0).sort((a, b) => a.flops - b.flops);
      const key = JSON.stringify(sorted);
      if (key === shown) return;
      shown = key;
      [before, now] = [now, sorted];
      // An excess of 0 has no place on a logarithmic axis; it is put at rounding error.
      const place = (one) => [one.flops, Math.max(one.excess, 1e-17)];
      const word = (one) => `excess ${number(one.excess)}, ${number(one.flops)} flops, condition ${number(one.condition)}`;
      figure.show({ series: [{ points: before.map(place), ink: 6, faint: true, stepped: true }, { points: now.map(place), ink: 0, marks: true, stepped: true, titles: now.map(word), size: 5 }],
        x: { label: 'flops', log: true }, y: { label: 'excess', log: true } });
      put(list, now.length > 0 && h('details', null, h('summary', null, `${now.length} ${now.length === 1 ? 'program' : 'programs'} on the front`), table([
        { head: 'Program', long: true, cell: (one) => programLink(one.equation ? formula(one.equation) : one.program.trim().split('\n').at(-1).trim(), one.program) },
        { head: 'Excess', number: true, cell: (one) => number(one.excess) },
        { head: 'Flops', number: true, cell: (one) => short(one.flops) },
        { head: 'Condition', number: true, cell: (one) => short(one.condition) },
      ], now)));
    },
  };
}
