// <a href="/memories/x/erase" data-dialog>: show the page's form in a dialog. If that fails, follow
// the link.
import { fetchFragment } from "./fragments.js";

function closeButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.close = "";
  button.textContent = "Close";
  return button;
}

async function open(link) {
  let nodes;
  try {
    nodes = await fetchFragment(link.href);
  } catch {
    location.assign(link.href);
    return;
  }
  if (nodes === null) return;
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", link.textContent.trim());
  dialog.append(nodes);
  if (!dialog.querySelector("[data-close]")) dialog.append(closeButton());
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  dialog.showModal();
  document.dispatchEvent(new CustomEvent("tacit:found", { detail: dialog }));
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const link = event.target.closest("a[data-dialog]");
  if (link) {
    event.preventDefault();
    open(link);
    return;
  }
  const closes = event.target.closest("dialog [data-close]");
  if (closes) {
    event.preventDefault();
    closes.closest("dialog").close();
  }
});
