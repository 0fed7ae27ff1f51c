// Choose the nodes whose labels are shown: the first in order that fit. Labels do not overlap each
// other or a person, and stay inside the canvas.

const HEIGHT = 20;
const GAP = 3;
const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

function width(text, font) {
  pen.font = font;
  const key = `${font} ${text}`;
  if (!widths.has(key)) widths.set(key, pen.measureText(text).width + 2 * GAP);
  return widths.get(key);
}

function overlaps(one, other) {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}

// Below its node, moved inside the canvas.
function box(node, wide, size) {
  const clamp = (least, most, wanted) => Math.max(least, Math.min(most, wanted));
  const left = clamp(0, size.width - wide, node.at.x - wide / 2);
  const top = clamp(0, size.height - HEIGHT, node.at.y + node.radius + GAP);
  return { left, right: left + wide, top, bottom: top + HEIGHT };
}

function disc({ at, radius }) {
  return { left: at.x - radius, right: at.x + radius, top: at.y - radius, bottom: at.y + radius };
}

/** Choose among `nodes`, best first, and return each with the center of its label. Labels do not
 * cover `people`, except labels that `must` be shown. `font`: the font of a node's label. */
export function placeLabels(nodes, people, must, font, size) {
  const discs = people.map(disc);
  const names = [];
  const found = [];
  for (const node of nodes) {
    const place = box(node, width(node.label, font(node)), size);
    const free = (others) => !others.some((one) => overlaps(one, place));
    if (!free(names) || !(must(node) || free(discs))) continue;
    names.push(place);
    found.push({ node, x: (place.left + place.right) / 2, y: place.top + 0.72 * HEIGHT });
  }
  return found;
}
