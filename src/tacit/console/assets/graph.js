// Memories and people as a picture, drawn from the list that stands below it. Each node is a link.
import { named } from "./labelling.js";
import { Sight } from "./moving.js";
import { placed } from "./placing.js";
import { Stepping } from "./stepping.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 34; // around the whole, for names
const PERSON_SIZE = 9;
const PERSON_LARGEST = 18;
const MEMORY_SIZE = 6;
const DRAWN_SIZE = 7; // of the shapes in the legend
const SMALLEST = 0.5;
const ROOMY = 34; // from one to the next, in pixels: each is drawn as large as it is meant
const MOST_STRETCHED = 3;

function made(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function read(list) {
  const nodes = [...list.querySelectorAll("[data-node]")].map((row) => {
    const link = row.querySelector("a");
    const { node, label, category } = row.dataset;
    return { id: node, label, category, link, row, lines: [], at: { x: 0, y: 0 } };
  });
  const places = new Map(nodes.map((one, i) => [one.id, i]));
  const lines = nodes.flatMap((one, from) =>
    [...one.row.querySelectorAll("[data-line]")].map((line) => ({
      from,
      to: places.get(line.dataset.end),
      kind: line.dataset.line,
      strength: Number(line.dataset.strength),
    })),
  );
  for (const line of lines) {
    nodes[line.from].lines.push(line);
    nodes[line.to].lines.push(line);
  }
  for (const one of nodes) one.size = sizeOf(one);
  return { nodes, lines };
}

// Whatever their case and accents.
function wordsOf(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

function extent(all) {
  const least = Math.min(...all);
  const most = Math.max(...all);
  return { middle: (least + most) / 2, size: Math.max(1, most - least) };
}

function sizeOf(node) {
  if (node.category) return MEMORY_SIZE;
  return Math.min(PERSON_LARGEST, PERSON_SIZE + Math.sqrt(node.lines.length));
}

class Picture {
  constructor(section, list) {
    Object.assign(this, read(list));
    this.section = section;
    this.canvas = section.querySelector("[data-canvas]");
    this.active = null;
    this.crowded = 0; // how large marks are; 0: nothing is drawn yet
    this.sought = new Set();
    this.waiting = false;
    this.sight = new Sight(this.canvas, () => this.draw());
    this.stepping = new Stepping(this);
  }

  async begin() {
    this.section.hidden = false;
    this.canvas.setAttribute("aria-busy", "true");
    this.put();
    const at = await placed(this.nodes, this.lines);
    this.nodes.forEach((one, i) => Object.assign(one, { first: { x: at.x[i], y: at.y[i] } }));
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    this.fit();
    this.use();
    this.canvas.removeAttribute("aria-busy");
  }

  put() {
    this.world = made("g", { class: "lines", "aria-hidden": "true" });
    this.names = made("g", { class: "names", "aria-hidden": "true" });
    const marks = made("g");
    for (const line of this.lines) {
      line.element = made("line", { class: `line ${line.kind}` });
      this.world.append(line.element);
    }
    for (const node of this.nodes) marks.append(this.mark(node));
    this.canvas.replaceChildren(this.world, marks, this.names);
  }

  mark(node) {
    const looks = [...this.section.querySelectorAll("[data-look-of]")];
    const look = looks.find((one) => one.dataset.lookOf === (node.category ?? ""));
    const what = node.category ? look.textContent.trim() : "Person";
    const element = made("a", {
      href: node.link.getAttribute("href"),
      class: node.category ? "node" : "node person",
      tabindex: "-1",
      "aria-label": `${node.link.textContent.trim()}, ${what}`,
    });
    const title = made("title");
    title.textContent = `${node.link.textContent.trim()} (${what})`;
    const shape = look.querySelector("path").cloneNode();
    element.append(title, made("circle", { class: "around", r: Math.max(12, node.size) }), shape);
    Object.assign(node, { element, shape });
    return element;
  }

  /** The whole of it, as wide or high as the canvas is. As long as that has no size, there is
   * nothing to see; once it has one, it is told. */
  fit() {
    const { width, height } = this.sight.size;
    if (!width || !height) return;
    const across = extent(this.nodes.map((one) => one.first.x));
    const down = extent(this.nodes.map((one) => one.first.y));
    const longer = (width * down.size) / (height * across.size);
    const by = Math.sqrt(Math.min(MOST_STRETCHED, Math.max(1 / MOST_STRETCHED, longer)));
    for (const one of this.nodes) {
      one.x = (one.first.x - across.middle) * by;
      one.y = (one.first.y - down.middle) / by;
    }
    for (const line of this.lines) this.stretch(line);
    const room = Math.sqrt((width * height) / this.nodes.length);
    this.crowded = Math.min(1, Math.max(SMALLEST, room / ROOMY));
    this.sight.fit({ width: across.size * by, height: down.size / by }, MARGIN);
  }

  stretch(line) {
    const ends = { x1: "from", y1: "from", x2: "to", y2: "to" };
    for (const [name, end] of Object.entries(ends)) {
      line.element.setAttribute(name, this.nodes[line[end]][name[0]]);
    }
  }

  resized() {
    if (this.sight.isWhole) this.fit();
    else this.draw();
  }

  draw() {
    if (this.waiting || !this.crowded) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { scale, x, y } = this.sight.now;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    // Where there is little room they are smaller, and grow as one comes closer.
    const size = Math.min(1, (this.crowded * scale) / this.sight.whole.scale);
    for (const node of this.nodes) {
      node.at = { x: node.x * scale + x, y: node.y * scale + y };
      node.radius = node.size * size;
      node.shape.setAttribute("transform", `scale(${node.radius / DRAWN_SIZE})`);
      node.element.setAttribute("transform", `translate(${node.at.x} ${node.at.y})`);
    }
    this.point();
    this.name();
    this.canvas.dataset.drawn = String(Number(this.canvas.dataset.drawn ?? 0) + 1);
  }

  /** What somebody points at, and what belongs to it, stands out; so does what they look for. */
  point() {
    const lines = new Set(this.active?.lines);
    this.near = new Set([...lines].flatMap((one) => [this.nodes[one.from], this.nodes[one.to]]));
    for (const line of this.lines) line.element.classList.toggle("near", lines.has(line));
    for (const node of this.nodes) node.element.classList.toggle("sought", this.sought.has(node));
    this.canvas.classList.toggle("seeking", this.sought.size > 0);
  }

  name() {
    const first = (node) =>
      (node === this.active ? 8 : 0) +
      (this.sought.has(node) ? 4 : 0) +
      (this.near.has(node) ? 2 : 0) +
      (node.category ? 0 : 1);
    const { width, height } = this.sight.size;
    const seen = this.nodes.filter(
      ({ at }) => at.x >= 0 && at.y >= 0 && at.x <= width && at.y <= height,
    );
    const ranked = seen.sort(
      (one, other) => first(other) - first(one) || other.lines.length - one.lines.length,
    );
    const { fontSize, fontFamily } = getComputedStyle(this.names);
    const font = (node) => `${node.category ? 400 : 700} ${fontSize} ${fontFamily}`;
    const people = seen.filter((one) => !one.category);
    const must = (node) => node === this.active || this.sought.has(node);
    const texts = named(ranked, people, must, font, this.sight.size).map(({ node, x, y }) => {
      const text = made("text", { x, y, class: node.category ? "name" : "name person" });
      text.textContent = node.label;
      return text;
    });
    this.names.replaceChildren(...texts);
  }

  use() {
    const does = {
      in: () => this.sight.closer(),
      out: () => this.sight.farther(),
      all: () => this.sight.all(),
    };
    for (const button of this.section.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", does[button.dataset.zoom]);
    }
    const byElement = new Map(this.nodes.map((one) => [one.element, one]));
    const pointed = (event) => {
      this.active = byElement.get(event.target.closest(".node")) ?? null;
      this.draw();
    };
    // Not at the canvas: browsers would make a stop of it for keys.
    for (const name of ["pointerover", "focusin"]) this.section.addEventListener(name, pointed);
    this.stepping.listen();
    const seek = this.section.querySelector("[data-seek]");
    seek.addEventListener("input", () => this.seek(seek.value));
    seek.addEventListener("keydown", (event) => {
      const found = this.nodes.find((one) => this.sought.has(one));
      if (event.key === "Enter" && found) this.stepping.to(found);
    });
  }

  seek(text) {
    const words = wordsOf(text);
    const fits = (node) => {
      const parts = wordsOf(node.link.textContent);
      return words.every((word) => parts.some((part) => part.startsWith(word)));
    };
    this.sought = new Set(words.length ? this.nodes.filter(fits) : []);
    const told = document.querySelector("[data-telling]");
    told.textContent = words.length ? `${this.sought.size} found in the picture` : "";
    this.draw();
  }
}

const section = document.querySelector("[data-picture]");
if (section) {
  const list = document.querySelector("[data-list]");
  new Picture(section, list).begin();
  list.open = false;
}
