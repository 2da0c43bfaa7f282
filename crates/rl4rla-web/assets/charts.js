// Drawings of what changes while one looks, in the looks of the report: its style sheet has the classes.
import { h, put, s } from './dom.js';
import { number, power, short } from './words.js';

const MARGIN = { top: 14, bottom: 40, left: 58 };
const DASHES = ['', '8 3', '2 3', '9 3 2 3', '4 2', '12 3', '5 2 1 2 1 2', '1 2'];

/** A scale from values to places; logarithmic where asked and possible. */
function scale(given, from, to, { log, zero }, wanted) {
  const values = zero ? [0, ...given] : given;
  const known = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  let [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : log ? [1, 10] : [0, 1];
  if (log) {
    low = Math.floor(Math.log10(low) + 1e-9);
    high = Math.ceil(Math.log10(high) - 1e-9);
    if (low === high) high = low + 1;
    const step = Math.max(1, Math.ceil((high - low) / wanted));
    const ticks = [];
    for (let at = low; at <= high; at += step) ticks.push(10 ** at);
    const place = (value) => from + (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low) * (to - from);
    return { ticks, place, word: (value) => (value >= 0.01 && value < 1e4 ? short(value) : power(value, 0)) };
  }
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const rough = (high - low) / wanted;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough);
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  const ticks = [];
  for (let at = 0; low + at * step <= high + step / 2; at++) ticks.push(Number((low + at * step).toPrecision(12)));
  return { ticks, place: (value) => from + (value - low) / (high - low) * (to - from), word: short };
}

const rowScale = (rows, top, bottom) => ({ ticks: [], place: (row) => top + (row + 0.7) * (bottom - top) / rows.length });

/** Labels at the ends of lines, moved apart. */
function apart(labels, top, bottom) {
  const space = 15;
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => { label.at = Math.max(label.y, i ? labels[i - 1].at + space : top + 4); });
  for (let i = labels.length - 1, limit = bottom; i >= 0 && labels[i].at > limit; i--, limit -= space) labels[i].at = limit;
  return labels;
}

function path(points, stepped) {
  return points.map(([x, y], i) => (i === 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}` : stepped ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `L${x.toFixed(1)} ${y.toFixed(1)}`)).join('');
}

/**
 * A figure: `series` are {name, points: [[x, y]], ink, line?, marks?, stepped?, titles?, faint?}; `x` and `y` are {label, log?, zero?}.
 * With `y.rows`, names of rows, the second number of a point is the row it is in.
 * Drawn at the width it has, so that letters keep their size.
 */
export function chart(label) {
  const holder = h('div', { class: 'chart' });
  let given = null;
  const draw = () => {
    if (given && holder.clientWidth) put(holder, drawing(label, given, holder.clientWidth));
  };
  new ResizeObserver(draw).observe(holder);
  return {
    element: holder,
    show(what) {
      given = what;
      draw();
    },
  };
}

function drawing(label, { series, x, y, height = 260 }, width) {
  const drawn = series.filter((one) => one.points.length);
  const names = drawn.filter((one) => one.name);
  const room = names.length ? Math.min(150, 14 + 7 * Math.max(...names.map((one) => one.name.length))) : 14;
  const [left, right, top, bottom] = [y.rows ? 8 : MARGIN.left, width - room, MARGIN.top, height - MARGIN.bottom];
  const all = drawn.flatMap((one) => one.points);
  const across = scale(all.map(([at]) => at), left, right, x, Math.max(2, Math.floor((right - left) / 80)));
  const up = y.rows ? rowScale(y.rows, top, bottom) : scale(all.map(([, at]) => at), bottom, top, y, 5);
  const svg = s('svg', { class: 'rl', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label });
  y.rows?.forEach((name, row) => svg.append(s('path', { class: 'grid', d: `M${left} ${up.place(row)}H${right}` }), s('text', { x: left, y: up.place(row) - 11 }, name)));
  for (const tick of up.ticks) {
    const at = up.place(tick).toFixed(1);
    svg.append(s('path', { class: 'grid', d: `M${left} ${at}H${right}` }), s('text', { class: 's e', x: left - 7, y: Number(at) + 4 }, up.word(tick)));
  }
  for (const tick of across.ticks) {
    const at = across.place(tick);
    // Words at the ends would leave a narrow drawing.
    const side = at > width - 22 ? 's e' : at < 22 ? 's' : 's m';
    svg.append(s('path', { class: 'axis', d: `M${at.toFixed(1)} ${bottom}v4` }), s('text', { class: side, x: at.toFixed(1), y: bottom + 18 }, across.word(tick)));
  }
  svg.append(s('path', { class: 'axis', d: `M${left} ${bottom}H${right}` }));
  svg.append(s('text', { class: 's m', x: (left + right) / 2, y: height - 5 }, x.label));
  if (y.label) svg.append(s('text', { class: 's m', transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)` }, y.label));
  if (!all.length) svg.append(s('text', { class: 's m', x: (left + right) / 2, y: (top + bottom) / 2 }, 'nothing yet'));
  const labels = [];
  drawn.forEach((one, nth) => {
    const ink = one.ink ?? nth;
    const group = s('g', { class: `i${ink % 8}`, opacity: one.faint ? 0.55 : undefined });
    const points = one.points.map(([px, py]) => [across.place(px), up.place(py)]);
    if (one.line !== false) group.append(s('path', { class: 'l', d: path(points, one.stepped), 'stroke-dasharray': DASHES[ink % 8] || undefined, 'stroke-width': one.thick ? 2.6 : undefined }));
    if (one.marks) {
      points.forEach(([px, py], i) => group.append(s('circle', { class: 'd', cx: px.toFixed(1), cy: py.toFixed(1), r: one.size ?? 4 },
        s('title', null, one.titles?.[i] ?? `${number(one.points[i][0])}, ${number(one.points[i][1])}`))));
    }
    svg.append(group);
    if (one.name) labels.push({ name: one.name, ink, y: points.at(-1)[1] + 4, x: points.at(-1)[0] });
  });
  for (const one of apart(labels, top, bottom)) {
    svg.append(s('g', { class: `i${one.ink % 8}` }, s('text', { class: 'own', x: right + 8, y: one.at.toFixed(1) }, one.name)));
  }
  return svg;
}

/** Intervals on one axis from 0 to 1: `rows` are {name, value, low, high, ink, words}. */
export function intervals(label, rows) {
  const holder = h('div', { class: 'chart' });
  const draw = () => {
    const width = holder.clientWidth;
    if (!width) return;
    const narrow = width < 560;
    const [step, top] = [narrow ? 46 : 30, 8];
    const left = narrow ? 8 : Math.min(300, 16 + 7.2 * Math.max(...rows.map((row) => row.name.length)));
    const right = width - (narrow ? 56 : 90);
    const height = top + rows.length * step + 30;
    const place = (value) => left + value * (right - left);
    const svg = s('svg', { class: 'rl', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label });
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(s('path', { class: 'grid', d: `M${place(tick).toFixed(1)} ${top}V${height - 26}` }),
        s('text', { class: tick ? 's m' : 's', x: place(tick).toFixed(1), y: height - 9 }, `${tick * 100} %`));
    }
    rows.forEach((row, nth) => {
      const y = top + nth * step + (narrow ? 32 : 15);
      svg.append(s('text', narrow ? { x: left, y: y - 12 } : { class: 'e', x: left - 12, y: y + 4 }, row.name));
      svg.append(s('g', { class: `i${row.ink % 8}` },
        s('path', { class: 'l', d: `M${place(row.low).toFixed(1)} ${y}H${place(row.high).toFixed(1)}`, 'stroke-width': 3 }),
        s('circle', { class: 'd', cx: place(row.value).toFixed(1), cy: y, r: 5 })));
      svg.append(s('text', { class: 's', x: right + 10, y: y + 4 }, row.words));
    });
    put(holder, svg);
  };
  new ResizeObserver(draw).observe(holder);
  return holder;
}

/** A figure that the server has drawn: an SVG without scripts and styles of its own. */
export async function figure(path) {
  const answer = await fetch(path, { credentials: 'omit' });
  if (!answer.ok) throw new Error('There is no such figure.');
  // A style of its own, as files have, is refused where the text is parsed already.
  const text = (await answer.text()).replace(/<style[^]*?<\/style>/g, '');
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
  if (parsed.querySelector('parsererror')) throw new Error('The figure cannot be read.');
  parsed.querySelectorAll('script, foreignObject').forEach((element) => element.remove());
  for (const element of parsed.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const inert = name !== 'style' && !/^on/i.test(name) && !(/href$/i.test(name) && !value.startsWith('#'));
      if (!inert) element.removeAttribute(name);
    }
  }
  const drawn = document.importNode(parsed.documentElement, true);
  // Letters keep the size that they were drawn for.
  drawn.style.maxWidth = `${drawn.viewBox.baseVal.width * 1.1}px`;
  return drawn;
}
