// Bulk selection: count the selected rows and select all. Without scripts the form still works.

function boxes(form) {
  return [...form.elements].filter((one) => one.name === "id" && one.type === "checkbox");
}

function update(form) {
  const all = boxes(form);
  const selected = all.filter((one) => one.checked).length;
  form.querySelector("[data-count]").textContent =
    selected === 0 ? "None selected" : `${selected} selected`;
  const selectAll = form.querySelector("[data-all]");
  selectAll.hidden = all.length === 0;
  const box = selectAll.querySelector("input");
  box.checked = selected > 0 && selected === all.length;
  box.indeterminate = selected > 0 && selected < all.length;
  for (const button of form.querySelectorAll("button")) button.disabled = selected === 0;
}

function updateAll() {
  for (const form of document.querySelectorAll("form[data-bulk]")) update(form);
}

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form || !("bulk" in form.dataset)) return;
  if (event.target.closest("[data-all]")) {
    for (const box of boxes(form)) box.checked = event.target.checked;
  }
  update(form);
});
// Ignore Enter in a check box: it would submit with the first button.
document.addEventListener("keydown", (event) => {
  const box = event.target;
  if (event.key === "Enter" && box.type === "checkbox" && box.form && "bulk" in box.form.dataset) {
    event.preventDefault();
  }
});
document.addEventListener("tacit:found", updateAll);
addEventListener("pageshow", updateAll);
updateAll();
