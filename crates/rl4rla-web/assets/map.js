// The winner map: which program takes the least time, over two axes; hover and focus explain a cell.
import { allLists, get } from './api.js';
import { choice, field, h, link, put, table } from './dom.js';
import { duration, power, short } from './words.js';

/** A value at an axis, in little room. */
const mark = (value) => (typeof value === 'number' && value >= 1e4 ? power(value, 0) : short(value));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export default async function view(frame) {
  const [{ axes, cells }, { programs }] = await Promise.all([get('map'), allLists()]);
  // The others are classical solvers, without a page.
  const paged = new Set(programs.map((one) => one.name));
  const named = (name) => (paged.has(name) ? link(name, 'program', { of: name }) : name);
  const placed = new Map(cells.map((cell) => [cell.at.join(), cell]));
  // The two axes with most values are drawn, the others are chosen; each starts in its middle.
  const bySize = axes.map((_, nth) => nth).sort((a, b) => axes[b].values.length - axes[a].values.length);
  const drawn = [bySize[1] ?? 0, bySize[0]].sort((a, b) => axes[a].values.length - axes[b].values.length).reverse();
  const at = axes.map((axis) => Math.floor((axis.values.length - 1) / 2));
  const wins = new Map();
  cells.forEach((cell) => wins.set(cell.winner, (wins.get(cell.winner) ?? 0) + 1));
  const winners = [...wins].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const letter = (name) => LETTERS[winners.indexOf(name)] ?? name;
  const ink = (name) => `i${winners.indexOf(name) % 8}`;

  const filters = h('div', { class: 'filters' });
  const holder = h('div');
  const said = h('div', { class: 'remark explained', 'aria-live': 'polite' });
  const legend = h('div');
  put(frame.main, h('h1', null, 'Winner map'), h('p', { class: 'lead' }, 'The program that takes the least time, by the difficulty of the problem. Hover over a cell, or move with the arrow keys, to see why.'),
    filters, h('div', { class: 'mapping' }, h('div', null, holder, legend), said));

  function controls() {
    const swap = (which) => (event) => {
      const next = Number(event.target.value);
      if (drawn[1 - which] === next) drawn[1 - which] = drawn[which];
      drawn[which] = next;
      controls();
      draw();
    };
    const names = axes.map((axis, nth) => ({ value: String(nth), text: axis.name }));
    const rest = axes.map((axis, nth) => [axis, nth]).filter(([, nth]) => !drawn.includes(nth));
    put(filters, field('Across', choice(names, String(drawn[0]), { onchange: swap(0) })), field('Down', choice(names, String(drawn[1]), { onchange: swap(1) })),
      rest.map(([axis, nth]) => field(axis.name, choice(axis.values.map((value, place) => ({ value: String(place), text: short(value) })), String(at[nth]), { onchange: (event) => {
        at[nth] = Number(event.target.value);
        draw();
      } }))));
  }

  function draw() {
    const [across, down] = drawn.map((nth) => axes[nth]);
    const here = new Set();
    const heads = [h('tr', null, h('td'), h('td', { colspan: across.values.length, class: 'axis-name' }, `${across.name} →`)),
      h('tr', null, h('th', { scope: 'col' }, `${down.name} ↓`), across.values.map((value) => h('th', { scope: 'col' }, mark(value))))];
    const rows = down.values.map((value, row) => h('tr', null, h('th', { scope: 'row' }, mark(value)), across.values.map((other, column) => {
      const place = [...at];
      [place[drawn[0]], place[drawn[1]]] = [column, row];
      const cell = placed.get(place.join());
      if (!cell) return h('td', { class: 'none' }, '–');
      here.add(cell.winner);
      const about = `${cell.winner}: ${across.name} ${short(other)}, ${down.name} ${short(value)}, ${duration(cell.seconds)}`;
      return h('td', { class: ink(cell.winner) }, h('button', { type: 'button', class: 'cell', 'aria-label': about, tabindex: row || column ? -1 : 0, 'data-place': `${row},${column}`,
        onmouseenter: () => explain(cell), onfocus: () => explain(cell), onclick: () => explain(cell) }, letter(cell.winner)));
    })));
    put(holder, h('table', { class: 'map', onkeydown: walk }, h('caption', { class: 'hidden' }, 'Winners; the letters are explained below'), h('thead', null, heads), h('tbody', null, rows)));
    put(legend, h('ul', { class: 'legend' }, winners.filter((name) => here.has(name)).map((name) => h('li', null, h('span', { class: `swatch ${ink(name)}` }, letter(name)), named(name)))));
    const first = placed.get(at.map((value, nth) => (drawn.includes(nth) ? 0 : value)).join());
    if (first) explain(first);
  }

  // One stop for the tab key; arrows move within.
  function walk(event) {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    const from = event.target.dataset?.place?.split(',').map(Number);
    if (!step || !from) return;
    event.preventDefault();
    const next = holder.querySelector(`[data-place="${from[0] + step[0]},${from[1] + step[1]}"]`);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function explain(cell) {
    put(said, h('h2', null, cell.winner), h('p', null, cell.at.map((value, nth) => `${axes[nth].name} ${short(axes[nth].values[value])}`).join(' · ')),
      h('p', { class: 'words' }, cell.why), paged.has(cell.winner) && h('p', null, link('Open the program', 'program', { of: cell.winner })),
      cell.alternatives?.length > 0 && table([{ head: 'Program', cell: (one) => one.program }, { head: 'Time', number: true, cell: (one) => duration(one.seconds) },
        { head: 'To the best', number: true, cell: (one) => `×${short(Number((one.seconds / cell.seconds).toPrecision(3)))}` }], [{ program: cell.winner, seconds: cell.seconds }, ...cell.alternatives.filter((one) => one.program !== cell.winner)].slice(0, 6)));
  }

  controls();
  draw();
  return {};
}
