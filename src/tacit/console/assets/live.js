// Search as you type: <form method="get" data-live="#found">. The results are fetched as a part, the
// address keeps step, and an answer that is overtaken by a later question is dropped.
import { part } from "./fetching.js";

const PAUSE_MS = 150;
let waiting = 0;
let asking = null;

function address(form) {
  const url = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value !== "") url.searchParams.append(name, value);
  }
  return url;
}

// For those who do not see the list change: one line of it is read out.
function tell(found) {
  const said = found.querySelector("[data-tell]");
  document.querySelector("[data-telling]").textContent = said?.textContent.trim() ?? "";
}

async function look(form) {
  const found = document.querySelector(form.dataset.live);
  const url = address(form);
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  found.setAttribute("aria-busy", "true");
  try {
    const nodes = await part(url, mine.signal);
    if (mine.signal.aborted || nodes === null) return;
    found.replaceChildren(nodes);
    tell(found);
    history.replaceState(null, "", url);
    document.dispatchEvent(new CustomEvent("tacit:found", { detail: found }));
    found.removeAttribute("aria-busy");
  } catch (error) {
    if (error.name !== "AbortError") form.submit();
  }
}

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.dataset.live) return;
  clearTimeout(waiting);
  waiting = setTimeout(look, event.target.type === "search" ? PAUSE_MS : 0, form);
});

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.live) return;
  event.preventDefault();
  clearTimeout(waiting);
  look(event.target);
});
