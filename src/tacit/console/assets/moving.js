// What part of a picture is seen, and how close: by mouse, touch, wheel and buttons.

const CLOSEST = 12; // times as close as the whole
const FARTHEST = 0.5;
const STEP = 1.4;
const A_DRAG = 5; // in pixels: less is a click

export class Sight {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.whole = { scale: 1, x: 0, y: 0 };
    this.now = this.whole;
    this.fingers = new Map();
    this.dragged = 0;
    this.listen();
  }

  get size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  get isWhole() {
    return this.now === this.whole;
  }

  /** All of it at once: so large, around the middle. */
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

  closer(times = STEP) {
    const { width, height } = this.size;
    this.zoom(times, width / 2, height / 2);
  }

  farther() {
    this.closer(1 / STEP);
  }

  /** What lies at this place of the canvas stays there. */
  zoom(times, x, y) {
    const most = CLOSEST * this.whole.scale;
    const least = FARTHEST * this.whole.scale;
    const scale = Math.min(most, Math.max(least, this.now.scale * times));
    const by = scale / this.now.scale;
    this.to({ scale, x: x - (x - this.now.x) * by, y: y - (y - this.now.y) * by });
  }

  /** Moves on just as far as is needed to see this place. */
  show(place, margin) {
    const { width, height } = this.size;
    const into = (at, size) => Math.max(margin - at, 0) + Math.min(size - margin - at, 0);
    const dx = into(place.x, width);
    const dy = into(place.y, height);
    if (dx || dy) this.pan(dx, dy);
  }

  place(event) {
    const around = this.canvas.getBoundingClientRect();
    return { x: event.clientX - around.left, y: event.clientY - around.top };
  }

  listen() {
    const on = (name, does) => this.canvas.addEventListener(name, does.bind(this));
    on("pointerdown", this.touched);
    on("pointermove", this.moved);
    on("pointerup", this.left);
    on("pointercancel", this.left);
    on("dragstart", (event) => event.preventDefault());
    on("click", (event) => this.dragged > A_DRAG && event.preventDefault());
    on("wheel", this.turned);
  }

  touched(event) {
    if (this.fingers.size === 0) this.dragged = 0;
    this.fingers.set(event.pointerId, this.place(event));
  }

  moved(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const at = this.place(event);
    this.dragged = Math.max(this.dragged, Math.hypot(at.x - before.x, at.y - before.y));
    if (this.dragged <= A_DRAG) return;
    this.canvas.setPointerCapture(event.pointerId); // it goes on outside, and a click stays a click
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.fingers.set(event.pointerId, at);
    if (!other) {
      this.pan(at.x - before.x, at.y - before.y);
      return;
    }
    const was = Math.hypot(before.x - other.x, before.y - other.y) || 1;
    const is = Math.hypot(at.x - other.x, at.y - other.y) || 1;
    this.zoom(is / was, (at.x + other.x) / 2, (at.y + other.y) / 2);
  }

  left(event) {
    this.fingers.delete(event.pointerId);
  }

  // Without Ctrl the wheel turns the page: nobody is caught in the picture on the way down.
  turned(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { x, y } = this.place(event);
    this.zoom(Math.exp(-event.deltaY / 300), x, y);
  }
}
