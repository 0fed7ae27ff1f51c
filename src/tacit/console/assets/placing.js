// Where the nodes of a picture stand: what belongs together is drawn together, everything else is
// pushed apart, and memories of one category lean towards each other. There is no chance in it: the
// same graph is always drawn the same way.

const STEPS = 220;
const STEPS_AT_ONCE = 10; // between these the page answers to whoever uses it
const APART = 40; // how far neighbours like to stand from each other
const REACH = 8 * APART; // beyond that nobody is pushed
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const TO_THE_MIDDLE = 0.012;
const TO_THEIR_OWN = 0.05;

const breath = () => new Promise((resume) => setTimeout(resume));

function begun(count) {
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const far = APART * 0.6 * Math.sqrt(i + 0.5);
    x[i] = far * Math.cos(i * GOLDEN_ANGLE);
    y[i] = far * Math.sin(i * GOLDEN_ANGLE);
  }
  return { x, y };
}

function push(at, moved) {
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

// The more lines somebody has, the less each of them pulls: else all would end up on one heap.
function pull(at, moved, lines, met) {
  for (const { from, to, strength } of lines) {
    const dx = at.x[to] - at.x[from];
    const dy = at.y[to] - at.y[from];
    const force = (0.3 * strength * Math.hypot(dx, dy)) / APART / Math.min(met[from], met[to]);
    moved.x[from] += dx * force;
    moved.y[from] += dy * force;
    moved.x[to] -= dx * force;
    moved.y[to] -= dy * force;
  }
}

function gather(at, moved, homes) {
  for (let i = 0; i < at.x.length; i++) {
    const home = homes[i];
    const force = home ? TO_THEIR_OWN : TO_THE_MIDDLE;
    moved.x[i] += ((home?.x ?? 0) - at.x[i]) * force * 4;
    moved.y[i] += ((home?.y ?? 0) - at.y[i]) * force * 4;
  }
}

// Each category has a place of its own on a ring.
function homesOf(nodes) {
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

function step(at, lines, met, homes, most) {
  const moved = { x: new Float64Array(at.x.length), y: new Float64Array(at.x.length) };
  push(at, moved);
  pull(at, moved, lines, met);
  gather(at, moved, homes);
  for (let i = 0; i < at.x.length; i++) {
    const far = Math.hypot(moved.x[i], moved.y[i]) || 1;
    const less = Math.min(far, most) / far;
    at.x[i] += moved.x[i] * less;
    at.y[i] += moved.y[i] * less;
  }
}

/** `nodes`: each with its category, or none; `lines`: from, to (places among the nodes), strength. */
export async function placed(nodes, lines) {
  const at = begun(nodes.length);
  const homes = homesOf(nodes);
  const met = new Uint16Array(nodes.length);
  for (const { from, to } of lines) {
    met[from] += 1;
    met[to] += 1;
  }
  for (let i = 0; i < STEPS; i++) {
    step(at, lines, met, homes, APART * (1 - i / STEPS) + 0.1);
    if (i % STEPS_AT_ONCE === STEPS_AT_ONCE - 1) await breath();
  }
  return at;
}
