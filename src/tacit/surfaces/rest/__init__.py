"""Memory over HTTP: every route is one word of a view, asked by whoever the key lets in."""
