"""One Chromium for each process of tests, driven by Playwright."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str | None:
    named = os.environ.get("TACIT_TEST_CHROMIUM")
    found = (shutil.which(name) for name in ((named,) if named else NAMES))
    return next((one for one in found if one), None)


class Driven:
    """A browser whose event loop stands still between tests: the thread is then free for others,
    which may run loops of their own."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._loop = asyncio.get_running_loop()
        self.rest()

    def rest(self) -> None:
        asyncio._set_running_loop(None)

    def go_on(self) -> None:
        asyncio._set_running_loop(self._loop)


@contextmanager
def driven(path: str) -> Iterator[Driven]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        made = Driven(browser)
        try:
            yield made
        finally:
            made.go_on()
            browser.close()
