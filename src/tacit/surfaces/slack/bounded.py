"""One HTTP exchange with Slack, bounded in time and size, and never redirected.

Slack's own client reads as much as it is sent, for as long as something comes, and would carry the
token along to wherever it is redirected to.
"""

from __future__ import annotations

import http.client
import io
import logging
import time
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from slack_sdk import WebClient

from tacit import limits

_SLACKS_OWN = (".slack.com", ".slack-gov.com")
_STEP_BYTES = 65_536


class TooMuch(Exception):
    """An answer that is too long, or takes too long."""


def silent() -> logging.Logger:
    """Slack's libraries log what people wrote, and requests that they refuse: nobody hears it."""
    logger = logging.getLogger("tacit.slack.libraries")
    logger.disabled = True
    logger.setLevel(logging.CRITICAL + 1)
    return logger


class BoundedClient(WebClient):
    def __init__(self, token: str, api_url: str = "") -> None:
        super().__init__(
            token=token,
            base_url=api_url or WebClient.BASE_URL,
            timeout=limits.SLACK_CALL_MAX_SECONDS,
            logger=silent(),
            retry_handlers=[],  # whoever calls decides
        )

    def trusts(self, url: str) -> bool:
        """Whether an address that Slack names is one of Slack's, or the one that is set for it."""
        try:
            named, ours = urlsplit(url), urlsplit(self.base_url)
            name = named.hostname or ""
            here = (named.scheme, name, named.port) == (ours.scheme, ours.hostname, ours.port)
        except ValueError:
            return False
        return here or (named.scheme == "https" and name.endswith(_SLACKS_OWN))

    def deliver(self, url: str, body: bytes, content_type: str) -> None:
        """To an address that Slack named, which is itself what lets us in: no token goes there."""
        request = Request(url, data=body, headers={"Content-Type": content_type}, method="POST")
        self._exchange(request)

    def _perform_urllib_http_request_internal(
        self,
        url: str,  # noqa: ARG002 (the request has it too)
        req: Request,
    ) -> dict[str, Any]:
        """What the library does the same way, but without bounds."""
        return self._exchange(req)

    def _exchange(self, request: Request) -> dict[str, Any]:
        until = time.monotonic() + self.timeout
        try:
            with self._opener().open(request, timeout=self.timeout) as answer:
                body = _read(answer, until)
                return {"status": answer.status, "headers": answer.headers, "body": body}
        except HTTPError as refused:
            with refused:
                told = io.BytesIO(_read(refused, until).encode())
            raise HTTPError(refused.url, refused.code, "refused", refused.headers, told) from None

    def _opener(self) -> OpenerDirector:
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else {}
        return build_opener(_Stay, ProxyHandler(proxies), HTTPSHandler(context=self.ssl))


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _read(answer: Any, until: float) -> str:
    found = bytearray()
    while step := answer.read1(_STEP_BYTES):
        found += step
        if len(found) > limits.SLACK_ANSWER_MAX_BYTES or time.monotonic() > until:
            raise TooMuch
    return found.decode("utf-8", "replace")


FAILURES = (OSError, http.client.HTTPException, TooMuch)
