// Search as you type: <form method="get" data-live="#found">. Fetch the results as a fragment, update
// the URL, and drop responses that a later request has overtaken.
import { fetchFragment } from "./fragments.js";

const PAUSE_MS = 150;
let timer = 0;
let current = null;

function searchUrl(form) {
  const url = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value !== "") url.searchParams.append(name, value);
  }
  return url;
}

// Announce the result to screen readers.
function announce(found) {
  const line = found.querySelector("[data-tell]");
  document.querySelector("[data-telling]").textContent = line?.textContent.trim() ?? "";
}

async function search(form) {
  const found = document.querySelector(form.dataset.live);
  const url = searchUrl(form);
  current?.abort();
  const controller = new AbortController();
  current = controller;
  found.setAttribute("aria-busy", "true");
  try {
    const nodes = await fetchFragment(url, controller.signal);
    if (controller.signal.aborted || nodes === null) return;
    found.replaceChildren(nodes);
    announce(found);
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
  clearTimeout(timer);
  timer = setTimeout(search, event.target.type === "search" ? PAUSE_MS : 0, form);
});

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.live) return;
  event.preventDefault();
  clearTimeout(timer);
  search(event.target);
});
