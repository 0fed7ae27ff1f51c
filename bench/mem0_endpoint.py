"""An embeddings endpoint as OpenAI's, whose vectors say which words a text has: for mem0."""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_DIMENSION = 1536
_WORD = re.compile(r"\w+")
# Of every word: to a model any two sentences are a little alike, by 0.1 and more, as they are here.
_LEAST = 0.02


def vector(text: str) -> list[float]:
    found = [_LEAST] * _DIMENSION
    for word in _WORD.findall(text.casefold()):
        found[int(hashlib.sha256(word.encode()).hexdigest(), 16) % _DIMENSION] += 1
    length = math.sqrt(sum(one * one for one in found))
    return [one / length for one in found]


@contextmanager
def serving() -> Iterator[str]:
    """Its address, as long as it is needed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Embeddings(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        data = [
            {"object": "embedding", "index": number, "embedding": vector(text)} for number, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        whole = {"object": "list", "data": data, "model": asked["model"], "usage": usage}
        body = json.dumps(whole).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Quiet: what is asked is nobody's news."""
