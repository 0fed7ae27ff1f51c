// Parts of pages, made by the server. What comes is put in as nodes: nothing of it runs, and what
// people wrote is escaped before it gets here.

const FRAGMENT = "X-Tacit-Fragment";

/** The part at this address; null where the sitting has ended and the page is loaded anew. */
export async function part(address, signal) {
  const answer = await fetch(address, {
    headers: { Accept: "text/html", [FRAGMENT]: "1" },
    credentials: "same-origin",
    signal,
  });
  if (answer.status === 204) {
    location.reload();
    return null;
  }
  // What is no part of a page of ours is not shown as one: whoever asked loads the page itself.
  const kind = answer.headers.get("Content-Type") ?? "";
  if (answer.redirected || !kind.startsWith("text/html")) throw new Error("not a part of a page");
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  const nodes = document.createDocumentFragment();
  nodes.append(...parsed.body.childNodes);
  return nodes;
}
