// <div data-refresh="2">: reload its content every so many seconds. It stops after a while without
// input, so that a page left open does not keep the session alive.
import { fetchFragment } from "./fragments.js";

const MOST_COUNT = 150; // refreshes since the last input
let left = MOST_COUNT;

// Announce the change to screen readers.
function announce(region) {
  const line = region.querySelector("[data-tell]")?.textContent.trim() ?? "";
  const status = document.querySelector("[data-telling]");
  if (status.textContent !== line) status.textContent = line;
}

async function refresh(region) {
  if (document.hidden || left <= 0 || document.querySelector("dialog[open]")) return;
  left -= 1;
  const fresh = document.createElement("div");
  const nodes = await fetchFragment(location.href);
  if (nodes === null) return;
  fresh.append(nodes);
  if (fresh.innerHTML === region.innerHTML) return;
  const focused = region.contains(document.activeElement) ? document.activeElement.id : "";
  region.replaceChildren(...fresh.childNodes);
  if (focused) document.getElementById(focused)?.focus();
  announce(region);
}

async function keepFresh(region) {
  for (;;) {
    await new Promise((resume) => setTimeout(resume, 1000 * Number(region.dataset.refresh)));
    await refresh(region).catch(() => {}); // the server is briefly unavailable
  }
}

for (const touch of ["keydown", "pointerdown"]) {
  addEventListener(touch, () => {
    left = MOST_COUNT;
  });
}
for (const region of document.querySelectorAll("[data-refresh]")) keepFresh(region);
