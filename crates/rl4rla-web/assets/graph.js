// The search graph of a stage, to explore: by hand on a canvas, and as lists that the keyboard walks.
import { get, runPath } from './api.js';
import { address, button, choice, code, facts, failure, field, h, link, put } from './dom.js';
import { equation } from './equation.js';
import { Drawing, SHADES } from './graph-canvas.js';
import { arrange, Places } from './graph-layout.js';
import { gestures } from './gestures.js';
import { programLink } from './watch.js';
import { count, number, several } from './words.js';

const FEW = 30; // children listed at first

export default async function view(frame, [id], query) {
  const run = await get(runPath(id));
  const last = Math.max(0, run.live && run.row.status === 'running' ? run.live.stage : run.stages.length - 1);
  const stage = query.has('stage') ? Number(query.get('stage')) : last;
  frame.title(`Search graph of ${run.row.curriculum}, run ${id}`);
  const names = run.stage_names.length ? run.stage_names : run.stages.map((one) => one.name);
  const stages = names.slice(0, Math.max(last + 1, run.stages.length)).map((name, nth) => ({ value: String(nth), text: `${nth + 1}. ${name}` }));
  const top = h('div', { class: 'filters' }, stages.length > 1 && field('Stage', choice(stages, String(stage), { onchange: (event) => frame.go('graph', id, { stage: event.target.value }) })));
  const busy = h('p', { class: 'note', role: 'status' }, 'The graph is being made …');
  put(frame.main, h('h1', null, 'Search graph ', h('small', null, 'of ', link(run.row.curriculum, 'run', id), ` run ${id}`)), top, busy);
  let graph;
  try {
    graph = await get(runPath(id, '/graph'), { stage });
  } catch (error) {
    put(busy, failure(error));
    return {};
  }
  busy.remove();
  const laid = arrange(graph);
  const best = [];
  for (let i = 0; i < laid.n; i++) if (laid.flags[i] & 2) best.push(i);
  best.sort((a, b) => laid.depth[a] - laid.depth[b]);
  return explore(frame, { id, stage, works: run.row.status === 'running', graph, laid, best, open: query.get('node') });
}

function explore(frame, { id, stage, works, graph, laid, best, open }) {
  const places = new Places(laid);
  const canvas = h('canvas', { class: 'graph', tabindex: 0, role: 'img', 'aria-label': `Search graph of ${several(laid.n, 'program')}; the lists beside it say the same`, 'aria-describedby': 'graph-keys' });
  const under = h('p', { class: 'under', 'aria-hidden': 'true' });
  const panel = h('div', { class: 'panel' });
  const merged = laid.flags.reduce((sum, flag) => sum + ((flag & 4) > 0), 0);
  const legend = h('ul', { class: 'legend' });
  const about = h('p', { class: 'note' }, `${several(laid.n, 'node')} to depth ${laid.levels.length - 1}, ${count(merged)} merged, after ${several(graph.playouts, 'playout')}. `,
    graph.hidden > 0 && `${count(graph.hidden)} more are left out. `, !graph.complete && ['The stage has not ended. ', works && link('Show it as it is now', 'graph', id, { stage, at: Date.now() })]);
  const tools = h('p', { class: 'actions' }, button('+', () => zoom(1.6), { 'aria-label': 'Zoom in' }), button('−', () => zoom(1 / 1.6), { 'aria-label': 'Zoom out' }), button('Show all', () => drawing.fit()), button('Best program', () => show(best.at(-1) ?? 0)));
  frame.main.append(about, h('div', { class: 'exploring' }, h('div', null, h('div', { class: 'stand' }, canvas, under), tools, legend,
    h('p', { class: 'note', id: 'graph-keys' }, 'Drag to move, wheel or pinch to zoom, click a node to open it. By keyboard: arrows move, + and − zoom, 0 shows all. The distance from the middle is the number of edits.')), panel));

  const drawing = new Drawing(canvas, laid, best);
  const zoom = (factor) => drawing.zoom(factor, canvas.clientWidth / 2, canvas.clientHeight / 2);
  const words = (i) => `node ${i}, value ${number(laid.value[i])}, ${several(laid.visits[i], 'visit')}`;
  const point = (i) => {
    if (drawing.marked.hover === i) return;
    drawing.marked.hover = i;
    under.textContent = i < 0 ? '' : words(i) + (laid.flags[i] & 4 ? ', merged' : '') + (laid.flags[i] & 1 ? ', an end' : '');
    canvas.style.cursor = i < 0 ? '' : 'pointer';
    drawing.frame();
  };
  const find = (px, py) => places.near(...drawing.world(px, py), Math.max(0.6, 10 * drawing.ratio / drawing.view.scale));
  gestures(canvas, { drawing, zoom, point: (px, py) => point(px === null ? -1 : find(px, py)), open: (px, py) => {
    const i = find(px, py);
    if (i >= 0) show(i);
  } });

  put(legend, h('li', null, number(drawing.low), h('span', { class: 'ramp' }), `${number(drawing.high)} value`), h('li', null, h('span', { class: 'dot best' }), 'best path'), h('li', null, h('span', { class: 'dot merged' }), 'merged: several paths lead there'), h('li', null, h('span', { class: 'dot large' }), 'larger: more visits'), h('li', null, h('span', { class: 'dot end' }), 'rim: an end'));
  function ramp() {
    put(legend.querySelector('.ramp'), Array.from({ length: SHADES }, (_, nth) => {
      const step = h('span');
      step.style.background = drawing.colours.css[nth];
      return step;
    }));
  }
  const renew = () => {
    drawing.renew();
    ramp();
  };
  const watch = new ResizeObserver(renew);
  watch.observe(canvas);
  const light = matchMedia('(prefers-color-scheme: dark)');
  light.addEventListener('change', renew);

  const go = (i, text) => button(text ?? words(i), () => show(i, true), { class: 'node', onfocus: () => {
    point(i);
    drawing.show(i);
  }, onblur: () => point(-1) });
  const path = h('details', { open: innerWidth > 900 }, h('summary', null, 'Best path'), h('ol', { class: 'nodes', start: 0 }, best.map((i) => h('li', null, go(i)))));
  const node = h('section', { 'aria-live': 'polite' });
  put(panel, node, path);

  const childrenOf = (i) => {
    const list = [...laid.child.subarray(laid.first[i], laid.first[i + 1])];
    for (const [child, parent] of laid.more) if (parent === i) list.push(child);
    return list.sort((a, b) => (laid.value[b] ?? -Infinity) - (laid.value[a] ?? -Infinity));
  };

  let asked = 0;
  /** Opens a node: at once what is known of it, then its program. */
  async function show(i, focused) {
    const mine = ++asked;
    drawing.marked.open = i;
    drawing.show(i);
    history.replaceState(null, '', address('graph', id, { stage, node: i }));
    const children = childrenOf(i);
    const parents = [laid.parent[i], ...laid.more.filter(([child]) => child === i).map(([, parent]) => parent)].filter((one) => one >= 0);
    const edits = new Map();
    const program = h('div', null, h('p', { class: 'note' }, 'Reading …'));
    const list = (of, most) => h('ul', { class: 'nodes' }, of.slice(0, most).map((one) => h('li', null, go(one), edits.has(one) && h('small', null, edits.get(one)))),
      of.length > most && h('li', null, button(`${count(of.length - most)} more`, (event) => event.target.closest('ul').replaceWith(list(of, most + 300)), { class: 'plain' })));
    const below = h('div');
    const drawChildren = () => put(below, children.length ? [h('h3', null, several(children.length, 'child', 'children')), list(children, FEW)] : h('p', { class: 'note' }, 'No children.'));
    const heading = h('h2', { tabindex: -1 }, `Node ${i}`, h('small', null, laid.flags[i] & 4 ? ' merged' : ''));
    put(node, heading, facts([['Value', number(laid.value[i])], ['Visits', count(laid.visits[i])], ['Edits', String(laid.depth[i])]]), program,
      parents.length > 0 && [h('h3', null, parents.length > 1 ? 'Parents' : 'Parent'), list(parents, FEW)], below);
    drawChildren();
    if (focused) heading.focus({ preventScroll: innerWidth > 900 });
    try {
      const said = await get(runPath(id, `/graph/${i}`), { stage });
      if (mine !== asked) return;
      put(program, said.matched && h('p', null, 'This is ', link(said.matched, 'program', { of: said.matched }), '.'), equation(said.equation), code(said.program, 'the program'), h('p', null, programLink('Open this program', said.program)));
      said.children?.forEach((child) => edits.set(child.node, child.edit));
      if (edits.size) drawChildren();
    } catch (error) {
      if (mine === asked) put(program, failure(error));
    }
  }

  show(open === null ? best.at(-1) ?? 0 : Math.min(laid.n - 1, Number(open) || 0));
  drawing.fit();
  return { close() {
    drawing.stop();
    watch.disconnect();
    light.removeEventListener('change', renew);
  } };
}
