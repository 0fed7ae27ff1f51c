// <div data-refresh="2">: what is in it comes anew every so many seconds, from this very address.
// Nobody is kept signed in by a page that is only left open: after a while it stops by itself.
import { part } from "./fetching.js";

const MOST_COUNT = 150; // since somebody touched the page
let left = MOST_COUNT;

// What changed is read out by one line of it.
function tell(region) {
  const said = region.querySelector("[data-tell]")?.textContent.trim() ?? "";
  const telling = document.querySelector("[data-telling]");
  if (telling.textContent !== said) telling.textContent = said;
}

async function refresh(region) {
  if (document.hidden || left <= 0 || document.querySelector("dialog[open]")) return;
  left -= 1;
  const made = document.createElement("div");
  const nodes = await part(location.href);
  if (nodes === null) return;
  made.append(nodes);
  if (made.innerHTML === region.innerHTML) return;
  const focused = region.contains(document.activeElement) ? document.activeElement.id : "";
  region.replaceChildren(...made.childNodes);
  if (focused) document.getElementById(focused)?.focus();
  tell(region);
}

async function keep(region) {
  for (;;) {
    await new Promise((resume) => setTimeout(resume, 1000 * Number(region.dataset.refresh)));
    await refresh(region).catch(() => {}); // the server is away for a moment
  }
}

for (const touch of ["keydown", "pointerdown"]) {
  addEventListener(touch, () => {
    left = MOST_COUNT;
  });
}
for (const region of document.querySelectorAll("[data-refresh]")) keep(region);
