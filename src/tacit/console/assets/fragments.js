// Fetch fragments of pages. They are parsed into nodes: no script in them runs, and the server has
// escaped text that people wrote.

const FRAGMENT = "X-Tacit-Fragment";

/** Fetch the fragment of a URL; null if the session has ended, and the page is reloaded. */
export async function fetchFragment(url, signal) {
  const response = await fetch(url, {
    headers: { Accept: "text/html", [FRAGMENT]: "1" },
    credentials: "same-origin",
    signal,
  });
  if (response.status === 204) {
    location.reload();
    return null;
  }
  // Refuse other responses: the caller then loads the page itself.
  const contentType = response.headers.get("Content-Type") ?? "";
  if (response.redirected || !contentType.startsWith("text/html")) throw new Error("not a fragment");
  const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
  const nodes = document.createDocumentFragment();
  nodes.append(...parsed.body.childNodes);
  return nodes;
}
