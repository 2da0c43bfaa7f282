// The drawing of a search graph. It is made into a bitmap, larger than what is seen; while one drags or zooms the bitmap
// is moved and scaled, and it is made again, at the detail that fits, when the hand rests.
import { shades } from './graph-layout.js';

export const SHADES = 12;
const MARGIN = 0.4; // of the bitmap around the view, on each side
const EDGES = 3500; // at most, those of the largest subtrees first
const JOINS = 400; // further parents of merged nodes, the most visited first
const ROUND = 5000; // nodes that are drawn round; more are set as pixels
const REST = 140; // milliseconds

/** A colour as [r, g, b]. */
function rgb(pen, colour) {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
}

function palette() {
  const style = getComputedStyle(document.documentElement);
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const [paper, text, ink, line] = ['paper', 'text', 'i0', 'line'].map((name) => rgb(pen, style.getPropertyValue(`--rl-${name}`)));
  const mix = (a, b, part) => a.map((value, nth) => Math.round(value + (b[nth] - value) * part));
  const steps = Array.from({ length: SHADES }, (_, nth) => {
    const at = nth / (SHADES - 1);
    return at < 0.6 ? mix(mix(paper, line, 0.55), ink, at / 0.6) : mix(ink, text, (at - 0.6) / 0.4 * 0.75);
  });
  const plain = (name) => style.getPropertyValue(`--rl-${name}`).trim();
  return { steps, css: steps.map(([r, g, b]) => `rgb(${r},${g},${b})`), words: Uint32Array.from(steps, ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0), line: plain('line'), best: plain('i1'), merged: plain('i3'), text: plain('text'), paper: plain('paper') };
}

export class Drawing {
  /** Draws `laid` into `canvas`; `moved()` is called when the view has changed. */
  constructor(canvas, laid, bestPath) {
    Object.assign(this, { canvas, laid, bestPath });
    this.pen = canvas.getContext('2d', { alpha: false });
    this.bitmap = document.createElement('canvas');
    this.pixels = document.createElement('canvas');
    this.marked = { hover: -1, open: -1 };
    const { shade, low, high } = shades(laid.value, SHADES);
    Object.assign(this, { shade, low, high });
    // Better nodes lie above worse ones; larger subtrees have the first right to an edge.
    const order = Uint32Array.from({ length: laid.n }, (_, i) => i);
    this.byValue = order.slice().sort((a, b) => shade[a] - shade[b] || laid.visits[a] - laid.visits[b]);
    this.bySize = order.sort((a, b) => laid.leaves[b] - laid.leaves[a] || laid.visits[b] - laid.visits[a]);
    this.joins = laid.more.slice().sort((a, b) => laid.visits[b[0]] - laid.visits[a[0]]);
    this.renew();
  }

  /** After the light or the size has changed. */
  renew() {
    this.colours = palette();
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.ratio = ratio;
    this.width = this.canvas.width = Math.round(clientWidth * ratio);
    this.height = this.canvas.height = Math.round(clientHeight * ratio);
    if (!this.view) this.fit();
    this.redraw();
  }

  fit() {
    const { left, right, top, bottom } = this.laid.box;
    this.view = { x: (left + right) / 2, y: (top + bottom) / 2, scale: this.fitting() };
    this.rest();
  }

  /** The scale at which all is seen. */
  fitting() {
    const { left, right, top, bottom } = this.laid.box;
    return Math.min(this.width / (right - left + 3), this.height / (bottom - top + 3));
  }

  /** Nobody gets lost beside the graph. */
  keep() {
    const { left, right, top, bottom } = this.laid.box;
    this.view.x = Math.max(left, Math.min(right, this.view.x));
    this.view.y = Math.max(top, Math.min(bottom, this.view.y));
  }

  /** World to canvas pixels. */
  at(i) {
    const { x, y, scale } = this.view;
    return [(this.laid.x[i] - x) * scale + this.width / 2, (this.laid.y[i] - y) * scale + this.height / 2];
  }

  /** Pixels of the page, from the corner of the canvas, to the world. */
  world(px, py) {
    const { x, y, scale } = this.view;
    return [(px * this.ratio - this.width / 2) / scale + x, (py * this.ratio - this.height / 2) / scale + y];
  }

  pan(dx, dy) {
    this.view.x -= dx * this.ratio / this.view.scale;
    this.view.y -= dy * this.ratio / this.view.scale;
    this.keep();
    this.rest();
  }

  zoom(factor, px, py) {
    const [x, y] = this.world(px, py);
    const scale = Math.max(this.fitting() * 0.5, Math.min(60 * this.ratio, this.view.scale * factor));
    const real = scale / this.view.scale;
    this.view.x = x - (x - this.view.x) / real;
    this.view.y = y - (y - this.view.y) / real;
    this.view.scale = scale;
    this.keep();
    this.rest();
  }

  /** Brings a node into the view, near enough to be told from others. */
  show(i) {
    const [px, py] = this.at(i);
    const near = 9 * this.ratio;
    const edge = 0.1;
    const inside = px > edge * this.width && px < (1 - edge) * this.width && py > edge * this.height && py < (1 - edge) * this.height;
    if (inside && (this.view.scale >= near || this.laid.n < 400)) return this.frame();
    this.view.x = this.laid.x[i];
    this.view.y = this.laid.y[i];
    if (this.laid.n >= 400) this.view.scale = Math.max(this.view.scale, near);
    return this.rest();
  }

  /** One frame now, and the details when nothing moves any more. */
  rest() {
    this.frame();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.redraw(), REST);
  }

  frame() {
    this.asked ??= requestAnimationFrame(() => {
      this.asked = undefined;
      this.compose();
    });
  }

  stop() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.asked);
  }

  /** Makes the bitmap again. */
  redraw() {
    clearTimeout(this.timer);
    if (!this.width) return;
    this.paint();
    this.frame();
  }

  compose() {
    const { pen, view, drawn } = this;
    if (!drawn) return;
    const factor = view.scale / drawn.scale;
    const wide = this.bitmap.width * factor;
    const high = this.bitmap.height * factor;
    const left = this.width / 2 + (drawn.x - view.x) * view.scale - wide / 2;
    const top = this.height / 2 + (drawn.y - view.y) * view.scale - high / 2;
    // The hand has left the bitmap: one slow frame, and it is there again.
    if (factor === 1 && (left > 0.5 || top > 0.5 || left + wide < this.width - 0.5 || top + high < this.height - 0.5)) {
      this.paint();
      return this.compose();
    }
    pen.fillStyle = this.colours.paper;
    pen.fillRect(0, 0, this.width, this.height);
    // Whole pixels keep the picture sharp.
    if (factor === 1) pen.drawImage(this.bitmap, Math.round(left), Math.round(top));
    else pen.drawImage(this.bitmap, left, top, wide, high);
    return this.overlay();
  }

  /** What is pointed at and what is open, with their parents. */
  overlay() {
    const { pen, laid } = this;
    const unit = this.ratio;
    for (const [kind, width] of [['hover', 2], ['open', 3]]) {
      const i = this.marked[kind];
      if (i < 0) continue;
      const [px, py] = this.at(i);
      pen.lineWidth = 1.5 * unit;
      pen.setLineDash([]);
      if (laid.parent[i] >= 0) this.edge(pen, i, laid.parent[i], this.colours.text);
      pen.setLineDash([5 * unit, 3 * unit]);
      if (laid.flags[i] & 4) laid.more.filter(([child]) => child === i).forEach(([, parent]) => this.edge(pen, i, parent, this.colours.merged));
      pen.setLineDash([]);
      pen.lineWidth = width * unit;
      pen.strokeStyle = this.colours.text;
      pen.beginPath();
      pen.arc(px, py, Math.max(7 * unit, laid.size[i] * this.view.scale + 4 * unit), 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  edge(pen, from, to, colour) {
    pen.strokeStyle = colour;
    pen.beginPath();
    pen.moveTo(...this.at(from));
    pen.lineTo(...this.at(to));
    pen.stroke();
  }

  paint() {
    const { laid, ratio } = this;
    const wide = Math.round(this.width * (1 + 2 * MARGIN));
    const high = Math.round(this.height * (1 + 2 * MARGIN));
    if (this.bitmap.width !== wide || this.bitmap.height !== high) {
      [this.bitmap.width, this.bitmap.height] = [wide, high];
      [this.pixels.width, this.pixels.height] = [wide, high];
    }
    this.drawn = { ...this.view };
    const { x, y, scale } = this.view;
    const [left, top] = [wide / 2 - x * scale, high / 2 - y * scale];
    const to = (i) => [laid.x[i] * scale + left, laid.y[i] * scale + top];
    const inside = ([px, py]) => px > -50 && py > -50 && px < wide + 50 && py < high + 50;
    const pen = this.bitmap.getContext('2d', { alpha: false });
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = this.colours.paper;
    pen.fillRect(0, 0, wide, high);
    this.edges(pen, to, inside);
    this.nodes(pen, wide, high, scale, left, top);
    this.path(pen, to, ratio);
  }

  edges(pen, to, inside) {
    const { laid, ratio } = this;
    const least = 5 * ratio; // shorter ones are hidden by their nodes
    pen.lineWidth = ratio;
    pen.globalAlpha = 0.5;
    pen.strokeStyle = this.colours.line;
    pen.beginPath();
    let drawn = 0;
    for (const i of this.bySize) {
      if (laid.parent[i] < 0) continue;
      const [a, b] = [to(i), to(laid.parent[i])];
      if (!inside(a) && !inside(b)) continue;
      if (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) < least) continue;
      pen.moveTo(...a);
      pen.lineTo(...b);
      if (++drawn >= EDGES) break;
    }
    pen.stroke();
    // Paths that meet: bent and dashed, in a colour of their own.
    pen.strokeStyle = this.colours.merged;
    pen.globalAlpha = this.joins.length > 200 ? 0.45 : 0.75;
    pen.setLineDash([4 * ratio, 3 * ratio]);
    pen.beginPath();
    drawn = 0;
    for (const [child, parent] of this.joins) {
      const [a, b] = [to(child), to(parent)];
      if (!inside(a) || !inside(b)) continue;
      const bend = 0.15;
      pen.moveTo(...b);
      pen.quadraticCurveTo((a[0] + b[0]) / 2 - (b[1] - a[1]) * bend, (a[1] + b[1]) / 2 + (b[0] - a[0]) * bend, ...a);
      if (++drawn >= JOINS) break;
    }
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  nodes(pen, wide, high, scale, left, top) {
    const { laid, shade, ratio } = this;
    const seen = [];
    for (const i of this.byValue) {
      const px = laid.x[i] * scale + left;
      const py = laid.y[i] * scale + top;
      if (px > -20 && py > -20 && px < wide + 20 && py < high + 20) seen.push(i);
    }
    const biggest = (i) => Math.max(0.75 * ratio, Math.min(12 * ratio, laid.size[i] * scale));
    if (seen.length <= ROUND) {
      for (const i of seen) {
        const [px, py, r] = [laid.x[i] * scale + left, laid.y[i] * scale + top, Math.max(biggest(i), 2 * ratio)];
        pen.fillStyle = this.colours.css[shade[i]];
        pen.beginPath();
        if (laid.flags[i] & 4) {
          pen.moveTo(px, py - 1.35 * r);
          pen.lineTo(px + 1.35 * r, py);
          pen.lineTo(px, py + 1.35 * r);
          pen.lineTo(px - 1.35 * r, py);
          pen.closePath();
        } else pen.arc(px, py, r, 0, 2 * Math.PI);
        pen.fill();
        if (r < 3 * ratio || !(laid.flags[i] & 5)) continue;
        // Merged nodes and ends have a rim.
        pen.strokeStyle = laid.flags[i] & 4 ? this.colours.merged : this.colours.text;
        pen.lineWidth = (laid.flags[i] & 4 ? 2 : 1) * ratio;
        pen.stroke();
      }
      return;
    }
    // Set as pixels: squares of one to a few pixels, the best of a place last.
    const front = this.pixels.getContext('2d');
    const picture = front.createImageData(wide, high);
    const words = new Uint32Array(picture.data.buffer);
    for (const i of seen) {
      const side = Math.max(1, Math.round(1.7 * biggest(i)));
      const x0 = Math.round(laid.x[i] * scale + left - side / 2);
      const y0 = Math.round(laid.y[i] * scale + top - side / 2);
      const colour = this.colours.words[shade[i]];
      for (let py = Math.max(0, y0); py < Math.min(high, y0 + side); py++) {
        for (let px = Math.max(0, x0); px < Math.min(wide, x0 + side); px++) words[py * wide + px] = colour;
      }
    }
    front.putImageData(picture, 0, 0);
    pen.drawImage(this.pixels, 0, 0);
  }

  path(pen, to, ratio) {
    pen.strokeStyle = pen.fillStyle = this.colours.best;
    pen.lineWidth = 3 * ratio;
    pen.lineJoin = 'round';
    pen.beginPath();
    this.bestPath.forEach((i, nth) => (nth ? pen.lineTo(...to(i)) : pen.moveTo(...to(i))));
    pen.stroke();
    for (const i of this.bestPath) {
      pen.beginPath();
      pen.arc(...to(i), Math.max(4 * ratio, Math.min(12 * ratio, this.laid.size[i] * this.view.scale)), 0, 2 * Math.PI);
      pen.fill();
    }
  }
}
