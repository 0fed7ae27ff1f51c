// What pages do beside being read: search without a server, light or dark, and copying of code.
// Without scripts all pages and links are there.

const base = document.currentScript.dataset.base.replace(/\/?$/, "/");
const root = document.documentElement;

function shade() {
  const button = document.querySelector(".shade");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.shade || (dark.matches ? "dark" : "light");
  const say = () => (button.textContent = now() === "dark" ? "Light" : "Dark");
  button.addEventListener("click", () => {
    root.dataset.shade = now() === "dark" ? "light" : "dark";
    localStorage.setItem("shade", root.dataset.shade);
    say();
  });
  button.hidden = false;
  say();
}

function words(text) {
  return (text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").match(/[\p{L}\p{N}_]+/gu) || []);
}

// Every word that is typed begins some word of a section; where it stands in a heading counts more.
function found(sections, typed) {
  const asked = words(typed);
  if (!asked.length) return [];
  const scored = [];
  for (const section of sections) {
    let score = 0;
    for (const word of asked) {
      const whole = (list) => (list.includes(word) ? 2 : list.some((one) => one.startsWith(word)) ? 1 : 0);
      const here = 12 * whole(section.page) + 8 * whole(section.heading) + Math.min(3, whole(section.body));
      if (!here) { score = 0; break; }
      score += here;
    }
    if (score) scored.push([score, section]);
  }
  return scored.sort((a, b) => b[0] - a[0]).slice(0, 12).map(([, section]) => section);
}

function around(text, typed) {
  const at = Math.max(0, ...words(typed).map((word) => text.toLowerCase().indexOf(word)));
  const start = Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 40)));
  return (start ? "…" : "") + text.slice(start, start + 130).trim() + (text.length > start + 130 ? "…" : "");
}

function search() {
  const form = document.querySelector(".search");
  const [field, told, list] = [form.querySelector("input"), form.querySelector("output"), form.querySelector("ol")];
  let sections = null;

  function load() {
    if (sections) return;
    sections = [];
    const script = document.createElement("script");
    script.src = `${base}search_index.js`;
    script.onload = () => {
      sections = window.tacitSections.map(([page, heading, address, text]) => ({
        title: heading === page ? page : `${page}: ${heading}`, address, text,
        page: words(page), heading: words(heading), body: [...new Set(words(text))],
      }));
      show();
    };
    document.head.append(script);
  }

  function show() {
    const hits = found(sections || [], field.value);
    list.replaceChildren(...hits.map((section) => {
      const [item, link, text] = ["li", "a", "span"].map((name) => document.createElement(name));
      link.href = base + section.address;
      link.textContent = section.title;
      text.textContent = around(section.text, field.value);
      link.append(text);
      item.append(link);
      return item;
    }));
    told.textContent = field.value.trim() ? `${hits.length} found` : "";
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  form.addEventListener("submit", (event) => { event.preventDefault(); list.querySelector("a")?.click(); });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { field.value = ""; show(); field.blur(); }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const stops = [field, ...list.querySelectorAll("a")];
    const next = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    stops[Math.min(stops.length - 1, Math.max(0, next))].focus();
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea")) return;
    field.focus();
    event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) list.replaceChildren(); });
  form.hidden = false;
}

function copying() {
  for (const box of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(box.querySelector("pre").textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    box.append(button);
  }
}

// What is wider than its place is scrolled by keyboard, too.
function scrolling() {
  for (const box of document.querySelectorAll("pre, table")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}

const chosen = localStorage.getItem("shade");
if (chosen) root.dataset.shade = chosen;
shade();
search();
scrolling();
if (navigator.clipboard) copying();
if (matchMedia("(max-width: 50rem)").matches) document.querySelector(".parts details").open = false;
else document.querySelector(".parts [aria-current]")?.scrollIntoView({ block: "nearest" });
