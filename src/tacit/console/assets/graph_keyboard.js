// Keyboard navigation of the graph. The graph is one tab stop; arrows move to the nearest node in that
// direction, Page Up and Page Down go through all nodes in the order of the list.

const MARGIN = 40;
const PAN = 60;
const DIRECTIONS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The nearest node in a direction; distance to the side counts double. */
function nearest(nodes, from, [dx, dy]) {
  let best = null;
  let least = Infinity;
  for (const node of nodes) {
    const x = node.x - from.x;
    const y = node.y - from.y;
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    const far = ahead + 2 * aside;
    if (ahead > 0.01 && aside <= 2 * ahead && far < least) {
      best = node;
      least = far;
    }
  }
  return best;
}

export class GraphKeyboard {
  constructor(graph) {
    this.graph = graph;
    this.current = graph.nodes[0];
  }

  listen() {
    const { canvas, nodes, section } = this.graph;
    this.stop(this.current);
    canvas.addEventListener("keydown", (event) => this.keyDown(event));
    section.addEventListener("focusin", (event) => {
      this.stop(nodes.find((one) => one.element === event.target) ?? this.current);
    });
  }

  stop(node) {
    this.current.element.setAttribute("tabindex", "-1");
    this.current = node;
    node.element.setAttribute("tabindex", "0");
  }

  to(node) {
    if (!node) return;
    this.graph.viewport.show(node.at, MARGIN);
    node.element.focus({ preventScroll: true });
  }

  keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { viewport, nodes } = this.graph;
    const at = nodes.indexOf(this.current);
    const direction = DIRECTIONS[event.key];
    const action = {
      PageDown: () => this.to(nodes[at + 1]),
      PageUp: () => this.to(nodes[at - 1]),
      Home: () => this.to(nodes[0]),
      End: () => this.to(nodes.at(-1)),
      "+": () => viewport.zoom(1.4, this.current.at.x, this.current.at.y),
      "-": () => viewport.zoom(1 / 1.4, this.current.at.x, this.current.at.y),
      0: () => viewport.all(),
    }[event.key];
    if (!action && !direction) return;
    event.preventDefault();
    if (action) action();
    else if (event.shiftKey) viewport.pan(-PAN * direction[0], -PAN * direction[1]);
    else this.to(nearest(nodes, this.current, direction));
  }
}
