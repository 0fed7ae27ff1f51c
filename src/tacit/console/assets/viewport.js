// Pan and zoom of the graph, by mouse, touch, wheel and buttons.

const MAX_ZOOM = 12; // times the scale of the whole graph
const MIN_ZOOM = 0.5;
const STEP = 1.4;
const DRAG_MIN_PIXELS = 5; // a shorter move is a click

export class Viewport {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.whole = { scale: 1, x: 0, y: 0 };
    this.now = this.whole;
    this.pointers = new Map();
    this.dragged = 0;
    this.listen();
  }

  get size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  get isWhole() {
    return this.now === this.whole;
  }

  /** Show the whole graph, which has this size and is centered at 0. */
  fit(whole, margin) {
    const { width, height } = this.size;
    const across = (width - 2 * margin) / whole.width;
    const down = (height - 2 * margin) / whole.height;
    this.whole = { scale: Math.min(across, down, 2), x: width / 2, y: height / 2 };
    this.all();
  }

  all() {
    this.to(this.whole);
  }

  to(next) {
    this.now = next;
    this.changed();
  }

  pan(dx, dy) {
    this.to({ ...this.now, x: this.now.x + dx, y: this.now.y + dy });
  }

  zoomIn(factor = STEP) {
    const { width, height } = this.size;
    this.zoom(factor, width / 2, height / 2);
  }

  zoomOut() {
    this.zoomIn(1 / STEP);
  }

  /** Zoom around a point of the canvas. */
  zoom(factor, x, y) {
    const most = MAX_ZOOM * this.whole.scale;
    const least = MIN_ZOOM * this.whole.scale;
    const scale = Math.min(most, Math.max(least, this.now.scale * factor));
    const by = scale / this.now.scale;
    this.to({ scale, x: x - (x - this.now.x) * by, y: y - (y - this.now.y) * by });
  }

  /** Pan just far enough to show a point. */
  show(point, margin) {
    const { width, height } = this.size;
    const into = (at, size) => Math.max(margin - at, 0) + Math.min(size - margin - at, 0);
    const dx = into(point.x, width);
    const dy = into(point.y, height);
    if (dx || dy) this.pan(dx, dy);
  }

  toCanvas(event) {
    const bounds = this.canvas.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  }

  listen() {
    const on = (name, handler) => this.canvas.addEventListener(name, handler.bind(this));
    on("pointerdown", this.pointerDown);
    on("pointermove", this.pointerMove);
    on("pointerup", this.pointerUp);
    on("pointercancel", this.pointerUp);
    on("dragstart", (event) => event.preventDefault());
    on("click", (event) => this.dragged > DRAG_MIN_PIXELS && event.preventDefault());
    on("wheel", this.wheel);
  }

  pointerDown(event) {
    if (this.pointers.size === 0) this.dragged = 0;
    this.pointers.set(event.pointerId, this.toCanvas(event));
  }

  pointerMove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const at = this.toCanvas(event);
    this.dragged = Math.max(this.dragged, Math.hypot(at.x - before.x, at.y - before.y));
    if (this.dragged <= DRAG_MIN_PIXELS) return;
    this.canvas.setPointerCapture(event.pointerId); // receive moves outside the canvas
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, at);
    if (!other) {
      this.pan(at.x - before.x, at.y - before.y);
      return;
    }
    const was = Math.hypot(before.x - other.x, before.y - other.y) || 1;
    const is = Math.hypot(at.x - other.x, at.y - other.y) || 1;
    this.zoom(is / was, (at.x + other.x) / 2, (at.y + other.y) / 2);
  }

  pointerUp(event) {
    this.pointers.delete(event.pointerId);
  }

  // Without Ctrl the wheel scrolls the page.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { x, y } = this.toCanvas(event);
    this.zoom(Math.exp(-event.deltaY / 300), x, y);
  }
}
