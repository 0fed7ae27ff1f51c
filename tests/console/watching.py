"""Pages that are looked after: a test fails on an error in the browser's console, on a script that
fails, and on any request to another host. A failure leaves a picture behind."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request

PICTURES = Path(__file__).parent.parent.parent / "build" / "console"
AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
GRAVE = ("serious", "critical")
_REFUSED = re.compile(r"Failed to load resource: the server responded with a status of 4\d\d")


class Watched:
    """What went wrong in one page."""

    def __init__(self, page: Page, host: str) -> None:
        self.found: list[str] = []
        self._host = host
        self._documents: set[str] = set()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.found.append(f"a script failed: {error}"))
        page.on("request", self._asked)

    def _asked(self, request: Request) -> None:
        if request.is_navigation_request():
            self._documents.add(request.url)
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and where.netloc != self._host:
            self.found.append(f"it asked another host: {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        # A page that says that something is not there is not a fault; an asset that is missing is.
        told = _REFUSED.match(message.text) and message.location.get("url") in self._documents
        if message.type in ("error", "warning") and not told:
            self.found.append(f"{message.type} in the console: {message.text}")


@contextmanager
def watched(page: Page, host: str, picture: str) -> Iterator[Page]:
    seen = Watched(page, host)
    try:
        yield page
        assert not seen.found, seen.found
    except BaseException:
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"{picture}.png", full_page=True)
        raise


def faults(page: Page) -> list[str]:
    """What axe finds that keeps somebody out."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']} ({node['html'][:200]})"
        for one in found["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


def faults_by_day_and_night(page: Page) -> list[str]:
    """The same page in light and in dark."""
    found = faults(page)
    page.emulate_media(color_scheme="dark")
    return [*found, *faults(page)]


def is_wider_than_its_window(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
