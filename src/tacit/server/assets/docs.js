// Render the OpenAPI document of this server. Text is set with textContent, never as HTML.
"use strict";

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function resolve(api, part) {
  if (!part || !part.$ref) return part;
  return part.$ref.slice(2).split("/").reduce((found, name) => found[name], api);
}

// Replace references by what they refer to; one that is inside itself stays a reference.
function expand(api, schema, seen = []) {
  if (Array.isArray(schema)) return schema.map((one) => expand(api, one, seen));
  if (schema === null || typeof schema !== "object") return schema;
  if (schema.$ref) {
    if (seen.includes(schema.$ref)) return { $ref: schema.$ref };
    return expand(api, resolve(api, schema), [...seen, schema.$ref]);
  }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => name !== "title" || typeof value !== "string")
      .map(([name, value]) => [name, expand(api, value, seen)]),
  );
}

function table(titles, rows) {
  const head = element("tr", "", ...titles.map((title) => element("th", title)));
  const body = rows.map((row) => element("tr", "", ...row.map((cell) => element("td", cell))));
  return element("table", "", head, ...body);
}

function describeType(api, schema) {
  const found = resolve(api, schema) || {};
  if (found.enum) return found.enum.join(" | ");
  if (found.anyOf) return found.anyOf.map((one) => describeType(api, one)).join(" | ");
  return [found.type || "any", found.format].filter(Boolean).join(", ");
}

function contents(api, content) {
  return Object.entries(content || {}).flatMap(([type, media]) => [
    element("h3", type),
    element("pre", JSON.stringify(expand(api, media.schema), null, 2)),
  ]);
}

function details(api, operation) {
  const parts = [element("p", operation.description)];
  const parameters = (operation.parameters || []).map((one) => resolve(api, one));
  if (parameters.length) {
    const rows = parameters.map((one) => [
      one.name + (one.required ? " *" : ""), one.in, describeType(api, one.schema),
      one.description || one.schema.description || "",
    ]);
    parts.push(element("h3", "Parameters"), table(["Name", "In", "Type", "Description"], rows));
  }
  if (operation.requestBody) {
    parts.push(element("h3", "Request body"), ...contents(api, operation.requestBody.content));
  }
  const responses = Object.entries(operation.responses);
  const rows = responses.map(([code, one]) => [
    code, one.description, Object.keys(one.headers || {}).join(", "),
  ]);
  parts.push(element("h3", "Responses"), table(["Status", "Meaning", "Headers"], rows));
  for (const [code, one] of responses) {
    if (code < "300") parts.push(...contents(api, one.content));
  }
  return parts;
}

function renderOperation(api, path, method, operation) {
  const name = element("span", method.toUpperCase());
  name.className = "method";
  const summary = element("summary", "", name, element("code", path), element("span", operation.summary));
  if (operation["x-scope"]) {
    const scope = element("span", operation["x-scope"]);
    scope.className = "scope";
    summary.append(scope);
  }
  const made = element("details", "", summary);
  made.id = operation.operationId;
  // Schemas are expanded when they are looked at: all of them would take seconds.
  made.addEventListener("toggle", () => made.append(...details(api, operation)), { once: true });
  return made;
}

function render(api) {
  document.getElementById("about").textContent = `${api.info.description}\n\nVersion ${api.info.version}`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!groups.has(tag)) groups.set(tag, element("section", "", element("h2", tag)));
      groups.get(tag).append(renderOperation(api, path, method, operation));
    }
  }
  document.getElementById("operations").replaceChildren(...groups.values());
  const linked = location.hash && document.getElementById(location.hash.slice(1));
  if (linked) {
    linked.open = true;
    linked.scrollIntoView();
  }
}

function filter(wanted) {
  for (const section of document.querySelectorAll("section")) {
    const shown = [...section.querySelectorAll("details")].filter((one) => {
      one.hidden = !one.firstChild.textContent.toLowerCase().includes(wanted);
      return !one.hidden;
    });
    section.hidden = shown.length === 0;
  }
}

document.getElementById("filter").addEventListener("input", (event) => {
  filter(event.target.value.trim().toLowerCase());
});
fetch("/openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(response.status)))
  .then(render)
  .catch((error) => {
    document.getElementById("operations").textContent = `Cannot load /openapi.json (${error}).`;
  });
