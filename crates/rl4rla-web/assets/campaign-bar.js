// The tasks of a campaign by state, as one bar: each part has a colour, a pattern and a count.
import { h, s } from './dom.js';
import { count } from './words.js';

const LEAST = 0.008; // of the bar: what there is can be seen
const HEIGHT = 22;
const STRIPES = (lines) => (ink) => s('path', { d: lines, stroke: ink, 'stroke-width': 1.6, fill: 'none' });
const DOTS = (ink) => s('circle', { cx: 4, cy: 4, r: 1.7, fill: ink });
const NOTHING = () => null;

/** The parts in their order: a colour of the style sheet, what is drawn on it, and how many tasks. */
const PARTS = [
  { name: 'found', drawn: NOTHING, tasks: (counts) => counts.found },
  { name: 'missed', drawn: DOTS, tasks: (counts) => counts.done - counts.found },
  { name: 'failed', drawn: STRIPES('M0 0L8 8M8 0L0 8'), tasks: (counts) => counts.failed },
  { name: 'running', drawn: STRIPES('M-2 2L2 -2M0 8L8 0M6 10L10 6'), tasks: (counts) => counts.running },
  { name: 'waiting', drawn: NOTHING, tasks: (counts) => counts.waiting },
  { name: 'lost', drawn: STRIPES('M4 0V8'), tasks: (counts) => counts.lost },
];
const ABOUT = { missed: 'done, and the targets not found', failed: 'ended with an error', waiting: 'in a queue, not handed out yet, or in a process that cannot be seen from here', lost: 'handed out, without a result, and in no running or queued job' };

const id = (name) => `task-${name}`;
const patch = (part, place) => [s('rect', { class: `task ${part.name}`, ...place }), s('rect', { fill: `url(#${id(part.name)})`, ...place })];

/** The patterns that parts are drawn with; once in a view. */
export function patterns() {
  return s('svg', { class: 'hidden', 'aria-hidden': 'true' }, s('defs', null, PARTS.map((part) =>
    s('pattern', { id: id(part.name), width: 8, height: 8, patternUnits: 'userSpaceOnUse' }, part.drawn('var(--rl-paper)')))));
}

/** The widths of parts as shares; small ones are widened and the others give way. */
function shares(sizes) {
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const wide = sizes.map((size) => (size > 0 ? Math.max(size / all, LEAST) : 0));
  const sum = wide.reduce((most, width) => most + width, 0) || 1;
  return wide.map((width) => width / sum);
}

/** The bar with its legend. */
export function bar(counts) {
  const parts = PARTS.map((part) => ({ ...part, size: Math.max(0, part.tasks(counts)) })).filter((part) => part.size > 0);
  const words = parts.map((part) => `${count(part.size)} ${part.name}`).join(', ');
  let at = 0;
  const drawn = shares(parts.map((part) => part.size)).map((share, nth) => {
    const place = { x: `${(100 * at).toFixed(3)}%`, width: `${(100 * share).toFixed(3)}%`, height: HEIGHT };
    at += share;
    return s('g', null, patch(parts[nth], place), s('title', null, `${count(parts[nth].size)} ${parts[nth].name}`));
  });
  return h('div', { class: 'tasks' }, s('svg', { height: HEIGHT, width: '100%', role: 'img', 'aria-label': `Tasks: ${words || 'none'}` }, drawn),
    h('ul', { class: 'legend' }, parts.map((part) => h('li', { title: ABOUT[part.name] },
      s('svg', { width: 20, height: 14, 'aria-hidden': 'true' }, patch(part, { width: 20, height: 14 })), h('span', null, part.name, ' ', h('b', null, count(part.size)))))));
}
