// Force-directed layout: edges attract, nodes repel, and memories of one category gather. It uses no
// random numbers, so the same graph always looks the same.

const STEPS = 220;
const STEPS_AT_ONCE = 10; // between these the page handles input
const APART = 40; // preferred distance of neighbors
const REACH = 8 * APART; // nodes farther away do not repel each other
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const CENTER_FORCE = 0.012;
const CATEGORY_FORCE = 0.05;

const pause = () => new Promise((resume) => setTimeout(resume));

function startPositions(count) {
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const far = APART * 0.6 * Math.sqrt(i + 0.5);
    x[i] = far * Math.cos(i * GOLDEN_ANGLE);
    y[i] = far * Math.sin(i * GOLDEN_ANGLE);
  }
  return { x, y };
}

function repel(at, moved) {
  const { x, y } = at;
  const count = x.length;
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      const dx = x[i] - x[j];
      const dy = y[i] - y[j];
      const squared = dx * dx + dy * dy + 0.01;
      if (squared > REACH * REACH) continue;
      const force = (APART * APART) / squared;
      moved.x[i] += dx * force;
      moved.y[i] += dy * force;
      moved.x[j] -= dx * force;
      moved.y[j] -= dy * force;
    }
  }
}

// Divide by the degree: else nodes with many edges would collapse into one heap.
function attract(at, moved, lines, degrees) {
  for (const { from, to, strength } of lines) {
    const dx = at.x[to] - at.x[from];
    const dy = at.y[to] - at.y[from];
    const force = (0.3 * strength * Math.hypot(dx, dy)) / APART / Math.min(degrees[from], degrees[to]);
    moved.x[from] += dx * force;
    moved.y[from] += dy * force;
    moved.x[to] -= dx * force;
    moved.y[to] -= dy * force;
  }
}

function gather(at, moved, centers) {
  for (let i = 0; i < at.x.length; i++) {
    const center = centers[i];
    const force = center ? CATEGORY_FORCE : CENTER_FORCE;
    moved.x[i] += ((center?.x ?? 0) - at.x[i]) * force * 4;
    moved.y[i] += ((center?.y ?? 0) - at.y[i]) * force * 4;
  }
}

// Place the categories on a ring.
function categoryCenters(nodes) {
  const kinds = [...new Set(nodes.map((one) => one.category).filter(Boolean))];
  const far = kinds.length < 2 ? 0 : APART * 0.55 * Math.sqrt(nodes.length);
  const places = new Map(
    kinds.map((kind, i) => {
      const angle = (2 * Math.PI * i) / kinds.length;
      return [kind, { x: 1.4 * far * Math.cos(angle), y: far * Math.sin(angle) }];
    }),
  );
  return nodes.map((one) => places.get(one.category));
}

function step(at, lines, degrees, centers, most) {
  const moved = { x: new Float64Array(at.x.length), y: new Float64Array(at.x.length) };
  repel(at, moved);
  attract(at, moved, lines, degrees);
  gather(at, moved, centers);
  for (let i = 0; i < at.x.length; i++) {
    const far = Math.hypot(moved.x[i], moved.y[i]) || 1;
    const factor = Math.min(far, most) / far;
    at.x[i] += moved.x[i] * factor;
    at.y[i] += moved.y[i] * factor;
  }
}

/** Lay out nodes, which may have a category, and lines: from, to (indices of nodes), strength. */
export async function layOut(nodes, lines) {
  const at = startPositions(nodes.length);
  const centers = categoryCenters(nodes);
  const degrees = new Uint16Array(nodes.length);
  for (const { from, to } of lines) {
    degrees[from] += 1;
    degrees[to] += 1;
  }
  for (let i = 0; i < STEPS; i++) {
    step(at, lines, degrees, centers, APART * (1 - i / STEPS) + 0.1);
    if (i % STEPS_AT_ONCE === STEPS_AT_ONCE - 1) await pause();
  }
  return at;
}
