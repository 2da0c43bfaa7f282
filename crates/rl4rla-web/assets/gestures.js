// Hands on a canvas: drag, wheel, pinch, click and keys.

/** Tells `drawing` of movements; `point` and `open` get places on the canvas. */
export function gestures(canvas, { drawing, zoom, point, open }) {
  const hands = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const apart = () => {
    const [[ax, ay], [bx, by]] = [...hands.values()];
    return { away: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    hands.set(event.pointerId, place(event));
    if (hands.size === 1) travelled = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    const now = place(event);
    const was = hands.get(event.pointerId);
    if (!was) return point(...now);
    if (hands.size === 1) {
      travelled += Math.abs(now[0] - was[0]) + Math.abs(now[1] - was[1]);
      // A click may tremble.
      if (travelled > 4) {
        canvas.classList.add('dragged');
        drawing.pan(now[0] - was[0], now[1] - was[1]);
      }
      hands.set(event.pointerId, now);
    } else {
      const before = apart();
      hands.set(event.pointerId, now);
      const after = apart();
      travelled = Infinity;
      drawing.pan(after.x - before.x, after.y - before.y);
      if (before.away > 0) drawing.zoom(after.away / before.away, after.x, after.y);
    }
    return undefined;
  });
  const leave = (event) => {
    if (!hands.delete(event.pointerId)) return;
    if (!hands.size) canvas.classList.remove('dragged');
    if (event.type === 'pointerup' && !hands.size && travelled <= 4) open(...place(event));
  };
  canvas.addEventListener('pointerup', leave);
  canvas.addEventListener('pointercancel', leave);
  canvas.addEventListener('pointerleave', () => point(null));
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    drawing.zoom(Math.exp(-event.deltaY * lines * 0.0016), ...place(event));
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) drawing.pan(...step);
    else if (event.key === '+' || event.key === '=') zoom(1.4);
    else if (event.key === '-') zoom(1 / 1.4);
    else if (event.key === '0') drawing.fit();
    else return;
    event.preventDefault();
  });
}
