// Choosing several: the bar says how many are chosen, and can choose all of them. Without scripts
// the boxes and buttons work as they stand.

function boxes(form) {
  return [...form.elements].filter((one) => one.name === "id" && one.type === "checkbox");
}

function tell(form) {
  const all = boxes(form);
  const chosen = all.filter((one) => one.checked).length;
  form.querySelector("[data-count]").textContent =
    chosen === 0 ? "None chosen" : `${chosen} chosen`;
  const whole = form.querySelector("[data-all]");
  whole.hidden = all.length === 0;
  const box = whole.querySelector("input");
  box.checked = chosen > 0 && chosen === all.length;
  box.indeterminate = chosen > 0 && chosen < all.length;
  for (const button of form.querySelectorAll("button")) button.disabled = chosen === 0;
}

function tellAll() {
  for (const form of document.querySelectorAll("form[data-choosing]")) tell(form);
}

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form || !("choosing" in form.dataset)) return;
  if (event.target.closest("[data-all]")) {
    for (const box of boxes(form)) box.checked = event.target.checked;
  }
  tell(form);
});
// Enter in a box would press the first button: nobody means that.
document.addEventListener("keydown", (event) => {
  const box = event.target;
  if (event.key === "Enter" && box.type === "checkbox" && box.form && "choosing" in box.form.dataset) {
    event.preventDefault();
  }
});
document.addEventListener("tacit:found", tellAll);
addEventListener("pageshow", tellAll);
tellAll();
