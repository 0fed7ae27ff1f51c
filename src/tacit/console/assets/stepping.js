// Through a picture by keyboard. It is one stop on the way through the page; within it, arrows go to
// whatever lies in that direction, and pages through everything in the order of the list.

const MARGIN = 40;
const PAN = 60;
const TOWARDS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The nearest in a direction: what lies to the side of it counts as farther away. */
function next(nodes, from, [dx, dy]) {
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

export class Stepping {
  constructor(picture) {
    this.picture = picture;
    this.here = picture.nodes[0];
  }

  listen() {
    const { canvas, nodes, section } = this.picture;
    this.stop(this.here);
    canvas.addEventListener("keydown", (event) => this.pressed(event));
    section.addEventListener("focusin", (event) => {
      this.stop(nodes.find((one) => one.element === event.target) ?? this.here);
    });
  }

  stop(node) {
    this.here.element.setAttribute("tabindex", "-1");
    this.here = node;
    node.element.setAttribute("tabindex", "0");
  }

  to(node) {
    if (!node) return;
    this.picture.sight.show(node.at, MARGIN);
    node.element.focus({ preventScroll: true });
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { sight, nodes } = this.picture;
    const at = nodes.indexOf(this.here);
    const towards = TOWARDS[event.key];
    const does = {
      PageDown: () => this.to(nodes[at + 1]),
      PageUp: () => this.to(nodes[at - 1]),
      Home: () => this.to(nodes[0]),
      End: () => this.to(nodes.at(-1)),
      "+": () => sight.zoom(1.4, this.here.at.x, this.here.at.y),
      "-": () => sight.zoom(1 / 1.4, this.here.at.x, this.here.at.y),
      0: () => sight.all(),
    }[event.key];
    if (!does && !towards) return;
    event.preventDefault();
    if (does) does();
    else if (event.shiftKey) sight.pan(-PAN * towards[0], -PAN * towards[1]);
    else this.to(next(nodes, this.here, towards));
  }
}
