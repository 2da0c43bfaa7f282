// What `analyze` says of a program: rates, steps, digits, and where it works.
import { code, facts, h, put, table, choice, field } from './dom.js';
import { equation } from './equation.js';
import { number, short } from './words.js';

const interval = (measured, word = number) => (measured ? `${word(measured.value)} (${word(measured.low)} to ${word(measured.high)})` : '–');

export function analysis(found) {
  const kappa = { head: 'Condition', number: false, cell: (row) => short(row.kappa) };
  const { iteration } = found;
  return [
    iteration && [h('h3', null, 'Iteration'), equation(iteration.direction && `xₜ₊₁ = xₜ − η ${iteration.direction}${iteration.definitions?.length ? `, where ${iteration.definitions.join('; ')}` : ''}`), facts([['Kind', iteration.nature], ['Decided by', iteration.decided]])],
    h('h3', null, 'Convergence'),
    found.contraction?.length > 0 && table([kappa,
      { head: 'Contraction measured', number: true, cell: (row) => interval(row.measured) },
      { head: 'Spectral radius', number: true, cell: (row) => interval(row.computed?.radius) },
      { head: 'Iterations needed', number: true, cell: (row) => interval(found.iterations?.find((one) => one.kappa === row.kappa)?.observed, short) },
      { head: 'Predicted', number: true, cell: (row) => interval(found.iterations?.find((one) => one.kappa === row.kappa)?.predicted, short) },
    ], found.contraction),
    h('p', { class: 'note' }, `Intervals are 95 % confidence over ${found.replicates} replicates; iterations to an excess of ${short(found.tolerance)}.`),
    facts([['Step used', short(found.step)], ['Best step', found.step_range && short(found.step_range.best)], ['Converges for steps', found.step_range && `${short(found.step_range.low)} to ${short(found.step_range.high)}`],
      ['Flops in all', found.flops && short(found.flops.total?.flops)], ['Cheaper than QR', found.flops?.rivals?.[0]?.rows?.cheaper]]),
    found.precision?.length > 0 && [h('h3', null, 'Digits'), table([kappa,
      { head: 'Excess in double', number: true, cell: (row) => interval(row.double) }, { head: 'In single', number: true, cell: (row) => interval(row.single) },
    ], found.precision)],
    found.map?.length > 0 && [h('h3', null, 'Where it works'), robustness(found)],
    found.worst && worst(found.worst),
  ];
}

/** The excess after T iterations over condition and aspect, one map for each leverage and weight outside the range. */
function robustness(found) {
  const values = (key) => [...new Set(found.map.map((cell) => cell[key]))];
  const [kappas, aspects, leverages, noises] = ['kappa', 'aspect', 'leverage', 'noise'].map(values);
  const noise = choice(noises.map((value) => ({ value: String(value), text: short(value) })), String(noises[0]), { onchange: () => draw() });
  const maps = h('div', { class: 'maps' });
  const level = (cell) => (cell === undefined || cell.excess === null ? 'none' : cell.excess <= found.tolerance ? 'good' : cell.excess < 1e-2 ? 'fair' : cell.excess <= 1 ? 'poor' : 'bad');
  const word = { good: 'reached', fair: 'close', poor: 'slow', bad: 'diverged', none: 'not run' };
  const draw = () => put(maps, leverages.map((leverage) => {
    const at = (kappa, aspect) => found.map.find((cell) => cell.kappa === kappa && cell.aspect === aspect && cell.leverage === leverage && String(cell.noise) === noise.value);
    const heads = h('tr', null, h('th', { scope: 'col' }, 'condition'), aspects.map((aspect) => h('th', { scope: 'col' }, `m = ${short(aspect)} n`)));
    return h('table', { class: 'heat' }, h('caption', null, `leverage ${leverage}`), h('thead', null, heads), h('tbody', null, kappas.map((kappa) => h('tr', null,
      h('th', { scope: 'row' }, short(kappa)), aspects.map((aspect) => {
        const cell = at(kappa, aspect);
        return h('td', { class: level(cell), 'data-head': `m = ${short(aspect)} n`, title: cell && `${number(cell.low)} to ${number(cell.high)}, ${cell.failed} of ${cell.count} failed` },
          number(cell?.excess), h('small', null, word[level(cell)]));
      })))));
  }));
  draw();
  return [h('p', { class: 'note' }, `Excess after ${short(found.T)} iterations; the tolerance is ${short(found.tolerance)}.`), noises.length > 1 && h('div', { class: 'filters' }, field('Part of b outside the range of A', noise)), maps];
}

function worst(worst) {
  return [h('h3', null, 'Worst case found'), h('p', null, h('b', null, worst.name ?? (worst.broke ? 'it breaks' : 'it does not break')), worst.why && `: ${worst.why}`),
    facts([['Excess', number(worst.excess)], ['Typical', number(worst.typical)], ['Evaluations', short(worst.evaluations)]]), worst.command && code(worst.command, 'the command')];
}
