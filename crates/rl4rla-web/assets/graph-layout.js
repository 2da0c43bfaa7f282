// Where the nodes of a search graph lie: depth by radius, subtrees by sectors, and every band of depth with the same area.

const GOLDEN = 0.6180339887498949;
const AIR = 1.8; // area per leaf

/** The graph with its children, subtree sizes and places. */
export function arrange(graph) {
  const n = graph.parent.length; // those that are shown
  const parent = Int32Array.from(graph.parent);
  const depth = Uint16Array.from(graph.depth);
  // Children of each node, one after another; by first parents.
  const first = new Uint32Array(n + 2);
  for (let i = 1; i < n; i++) if (parent[i] >= 0) first[parent[i] + 1]++;
  for (let i = 0; i <= n; i++) first[i + 1] += first[i];
  const filled = first.slice();
  const child = new Uint32Array(n);
  for (let i = 1; i < n; i++) if (parent[i] >= 0) child[filled[parent[i]]++] = i;
  // Leaves below each node; parents come before their children.
  const leaves = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    if (first[i] === first[i + 1]) leaves[i] = 1;
    if (parent[i] >= 0) leaves[parent[i]] += leaves[i];
  }
  const all = Math.max(1, leaves[0]);
  const level = Array.from({ length: depth.reduce((most, d) => Math.max(most, d), 0) + 1 }, () => 0);
  for (let i = 0; i < n; i++) level[depth[i]]++;
  const squared = (d) => AIR * d * Math.max(all, 12) / Math.PI;
  // Nodes that would touch on a circle are spread over their band.
  const spread = level.map((count, d) => {
    const crowd = 0.35 * count / (2 * Math.PI * Math.sqrt(squared(d) || 1));
    return crowd < 0.2 ? 0 : Math.min(0.84, crowd);
  });
  const x = new Float32Array(n);
  const y = new Float32Array(n);
  const start = new Float64Array(n);
  const nth = level.map(() => 0);
  for (let i = 0; i < n; i++) {
    if (i > 0) {
      const d = depth[i];
      const angle = start[i] + Math.PI * leaves[i] / all;
      const within = ((nth[d]++ * GOLDEN) % 1 - 0.5) * spread[d];
      const r = Math.sqrt(squared(d + within));
      x[i] = r * Math.cos(angle);
      y[i] = r * Math.sin(angle);
    }
    let from = start[i];
    for (let k = first[i]; k < first[i + 1]; k++) {
      start[child[k]] = from;
      from += 2 * Math.PI * leaves[child[k]] / all;
    }
  }
  const box = { left: 0, right: 0, top: 0, bottom: 0 };
  for (let i = 0; i < n; i++) {
    box.left = Math.min(box.left, x[i]);
    box.right = Math.max(box.right, x[i]);
    box.top = Math.min(box.top, y[i]);
    box.bottom = Math.max(box.bottom, y[i]);
  }
  const size = new Float32Array(n);
  const visits = graph.visits;
  let most = 1;
  for (let i = 0; i < n; i++) most = Math.max(most, visits[i]);
  // As large as the room between nodes allows, on the whole.
  const least = Math.max(0.24, Math.min(0.45, 0.14 * Math.sqrt(squared(level.length) * Math.PI / n)));
  for (let i = 0; i < n; i++) size[i] = least * (1 + 1.3 * Math.log1p(visits[i]) / Math.log1p(most));
  return { n, parent, depth, first, child, leaves, x, y, box, size, radius: Math.sqrt(squared(level.length)) + 1, flags: graph.flags, value: graph.value, visits, more: graph.more ?? [], levels: level };
}

/** Values as one of `steps` colours, from the second percentile up; and what the ends stand for. */
export function shades(value, steps) {
  const sorted = Float64Array.from(value, (one) => one ?? NaN).filter((one) => !Number.isNaN(one)).sort();
  const low = sorted[Math.floor(sorted.length * 0.02)] ?? 0;
  const high = sorted.at(-1) ?? 1;
  const shade = Uint8Array.from(value, (one) => (one === null || !(high > low) ? 0 : Math.max(0, Math.min(steps - 1, Math.floor((one - low) / (high - low) * steps)))));
  return { shade, low, high };
}

/** Nodes by place, to find what is near the pointer. */
export class Places {
  constructor({ n, x, y, radius }) {
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(n / 4))));
    this.radius = radius;
    this.x = x;
    this.y = y;
    const cells = this.side * this.side;
    this.first = new Uint32Array(cells + 1);
    const cell = (i) => this.column(y[i]) * this.side + this.column(x[i]);
    for (let i = 0; i < n; i++) this.first[cell(i) + 1]++;
    for (let c = 0; c < cells; c++) this.first[c + 1] += this.first[c];
    const filled = this.first.slice();
    this.node = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.node[filled[cell(i)]++] = i;
  }

  column(at) {
    return Math.max(0, Math.min(this.side - 1, Math.floor((at + this.radius) / (2 * this.radius) * this.side)));
  }

  /** The node next to a place, at most `reach` away; −1 for none. */
  near(x, y, reach) {
    let [found, least] = [-1, reach * reach];
    for (let row = this.column(y - reach); row <= this.column(y + reach); row++) {
      for (let column = this.column(x - reach); column <= this.column(x + reach); column++) {
        const c = row * this.side + column;
        for (let k = this.first[c]; k < this.first[c + 1]; k++) {
          const i = this.node[k];
          const away = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
          if (away < least) [found, least] = [i, away];
        }
      }
    }
    return found;
  }
}
