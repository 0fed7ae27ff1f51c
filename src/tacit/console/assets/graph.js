// Draw memories and people as a graph from the list below it. Each node is a link.
import { placeLabels } from "./graph_labels.js";
import { Viewport } from "./viewport.js";
import { layOut } from "./graph_layout.js";
import { GraphKeyboard } from "./graph_keyboard.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 34; // around the graph, for labels
const PERSON_SIZE = 9;
const PERSON_LARGEST = 18;
const MEMORY_SIZE = 6;
const DRAWN_SIZE = 7; // size of the shapes in the legend
const MIN_SCALE = 0.5;
const FULL_SIZE_DISTANCE = 34; // pixels between nodes from which they have their full size
const MAX_STRETCH = 3;

function svgElement(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function readList(list) {
  const nodes = [...list.querySelectorAll("[data-node]")].map((row) => {
    const link = row.querySelector("a");
    const { node, label, category } = row.dataset;
    return { id: node, label, category, link, row, lines: [], at: { x: 0, y: 0 } };
  });
  const indices = new Map(nodes.map((one, i) => [one.id, i]));
  const lines = nodes.flatMap((one, from) =>
    [...one.row.querySelectorAll("[data-line]")].map((line) => ({
      from,
      to: indices.get(line.dataset.end),
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

// Split into words without case and accents.
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

class GraphView {
  constructor(section, list) {
    Object.assign(this, readList(list));
    this.section = section;
    this.canvas = section.querySelector("[data-canvas]");
    this.active = null;
    this.markScale = 0; // scale of the marks; 0: not drawn yet
    this.matches = new Set();
    this.waiting = false;
    this.viewport = new Viewport(this.canvas, () => this.draw());
    this.keyboard = new GraphKeyboard(this);
  }

  async start() {
    this.section.hidden = false;
    this.canvas.setAttribute("aria-busy", "true");
    this.buildElements();
    const at = await layOut(this.nodes, this.lines);
    this.nodes.forEach((one, i) => Object.assign(one, { first: { x: at.x[i], y: at.y[i] } }));
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    this.fit();
    this.listen();
    this.canvas.removeAttribute("aria-busy");
  }

  buildElements() {
    this.world = svgElement("g", { class: "lines", "aria-hidden": "true" });
    this.names = svgElement("g", { class: "names", "aria-hidden": "true" });
    const marks = svgElement("g");
    for (const line of this.lines) {
      line.element = svgElement("line", { class: `line ${line.kind}` });
      this.world.append(line.element);
    }
    for (const node of this.nodes) marks.append(this.mark(node));
    this.canvas.replaceChildren(this.world, marks, this.names);
  }

  mark(node) {
    const styles = [...this.section.querySelectorAll("[data-style-of]")];
    const style = styles.find((one) => one.dataset.styleOf === (node.category ?? ""));
    const what = node.category ? style.textContent.trim() : "Person";
    const element = svgElement("a", {
      href: node.link.getAttribute("href"),
      class: node.category ? "node" : "node person",
      tabindex: "-1",
      "aria-label": `${node.link.textContent.trim()}, ${what}`,
    });
    const title = svgElement("title");
    title.textContent = `${node.link.textContent.trim()} (${what})`;
    const shape = style.querySelector("path").cloneNode();
    element.append(title, svgElement("circle", { class: "around", r: Math.max(12, node.size) }), shape);
    Object.assign(node, { element, shape });
    return element;
  }

  /** Fit the graph into the canvas. While the canvas has no size, do nothing: the resize observer
   * calls again. */
  fit() {
    const { width, height } = this.viewport.size;
    if (!width || !height) return;
    const across = extent(this.nodes.map((one) => one.first.x));
    const down = extent(this.nodes.map((one) => one.first.y));
    const longer = (width * down.size) / (height * across.size);
    const by = Math.sqrt(Math.min(MAX_STRETCH, Math.max(1 / MAX_STRETCH, longer)));
    for (const one of this.nodes) {
      one.x = (one.first.x - across.middle) * by;
      one.y = (one.first.y - down.middle) / by;
    }
    for (const line of this.lines) this.stretch(line);
    const room = Math.sqrt((width * height) / this.nodes.length);
    this.markScale = Math.min(1, Math.max(MIN_SCALE, room / FULL_SIZE_DISTANCE));
    this.viewport.fit({ width: across.size * by, height: down.size / by }, MARGIN);
  }

  stretch(line) {
    const ends = { x1: "from", y1: "from", x2: "to", y2: "to" };
    for (const [name, end] of Object.entries(ends)) {
      line.element.setAttribute(name, this.nodes[line[end]][name[0]]);
    }
  }

  resized() {
    if (this.viewport.isWhole) this.fit();
    else this.draw();
  }

  draw() {
    if (this.waiting || !this.markScale) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { scale, x, y } = this.viewport.now;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    // Marks are smaller where the graph is dense, and grow with the zoom.
    const size = Math.min(1, (this.markScale * scale) / this.viewport.whole.scale);
    for (const node of this.nodes) {
      node.at = { x: node.x * scale + x, y: node.y * scale + y };
      node.radius = node.size * size;
      node.shape.setAttribute("transform", `scale(${node.radius / DRAWN_SIZE})`);
      node.element.setAttribute("transform", `translate(${node.at.x} ${node.at.y})`);
    }
    this.highlight();
    this.drawLabels();
    this.canvas.dataset.drawn = String(Number(this.canvas.dataset.drawn ?? 0) + 1);
  }

  /** Highlight the active node with its neighbors, and the search results. */
  highlight() {
    const lines = new Set(this.active?.lines);
    this.near = new Set([...lines].flatMap((one) => [this.nodes[one.from], this.nodes[one.to]]));
    for (const line of this.lines) line.element.classList.toggle("near", lines.has(line));
    for (const node of this.nodes) node.element.classList.toggle("matches", this.matches.has(node));
    this.canvas.classList.toggle("searching", this.matches.size > 0);
  }

  drawLabels() {
    const first = (node) =>
      (node === this.active ? 8 : 0) +
      (this.matches.has(node) ? 4 : 0) +
      (this.near.has(node) ? 2 : 0) +
      (node.category ? 0 : 1);
    const { width, height } = this.viewport.size;
    const seen = this.nodes.filter(
      ({ at }) => at.x >= 0 && at.y >= 0 && at.x <= width && at.y <= height,
    );
    const ranked = seen.sort(
      (one, other) => first(other) - first(one) || other.lines.length - one.lines.length,
    );
    const { fontSize, fontFamily } = getComputedStyle(this.names);
    const font = (node) => `${node.category ? 400 : 700} ${fontSize} ${fontFamily}`;
    const people = seen.filter((one) => !one.category);
    const must = (node) => node === this.active || this.matches.has(node);
    const texts = placeLabels(ranked, people, must, font, this.viewport.size).map(({ node, x, y }) => {
      const text = svgElement("text", { x, y, class: node.category ? "name" : "name person" });
      text.textContent = node.label;
      return text;
    });
    this.names.replaceChildren(...texts);
  }

  listen() {
    const actions = {
      in: () => this.viewport.zoomIn(),
      out: () => this.viewport.zoomOut(),
      all: () => this.viewport.all(),
    };
    for (const button of this.section.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", actions[button.dataset.zoom]);
    }
    const byElement = new Map(this.nodes.map((one) => [one.element, one]));
    const activate = (event) => {
      this.active = byElement.get(event.target.closest(".node")) ?? null;
      this.draw();
    };
    // Not on the canvas: browsers would make it a tab stop.
    for (const name of ["pointerover", "focusin"]) this.section.addEventListener(name, activate);
    this.keyboard.listen();
    const search = this.section.querySelector("[data-search]");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => {
      const found = this.nodes.find((one) => this.matches.has(one));
      if (event.key === "Enter" && found) this.keyboard.to(found);
    });
  }

  search(text) {
    const words = wordsOf(text);
    const isMatch = (node) => {
      const parts = wordsOf(node.link.textContent);
      return words.every((word) => parts.some((part) => part.startsWith(word)));
    };
    this.matches = new Set(words.length ? this.nodes.filter(isMatch) : []);
    const status = document.querySelector("[data-telling]");
    status.textContent = words.length ? `${this.matches.size} found in the graph` : "";
    this.draw();
  }
}

const section = document.querySelector("[data-graph]");
if (section) {
  const list = document.querySelector("[data-list]");
  new GraphView(section, list).start();
  list.open = false;
}
