"""A real server and a real browser. One server for each file of tests; a space of its own for each
test that takes `world`, one for the whole file for those that take `shared` and write nothing."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol

import pytest
from playwright.sync_api import Page, expect

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tests.console.chromium import Driven, driven, executable
from tests.console.seeding import ALICE, seed
from tests.console.watching import watched
from tests.missing import NO_CHROMIUM
from tests.server.http_server import served

_NAMES = count()
PHONE = {"width": 375, "height": 740}
DESK = {"width": 1200, "height": 800}
TIMEOUT_MS = 30_000  # pages are slow where the machine is busy
COOKIE = "tacit_session"

expect.set_options(timeout=TIMEOUT_MS)


def unhurried() -> Settings:
    made = Settings()
    return replace(made, server=replace(made.server, rate_per_minute=1_000_000), learn=replace(made.learn, workers=0))


@dataclass(frozen=True)
class World:
    """A space, and where its pages are."""

    memory: Memory
    url: str

    def cookie(self, *, person: str | None = None, operator: str | None = None) -> str:
        token = self.memory.console.create_link(person=person, operator=operator).token
        return self.memory.console.sign_in(token).cookie

    def seat(self, **whose: str | None) -> Any:
        """The cookie, as a browser is handed it."""
        return {"name": COOKIE, "value": self.cookie(**whose), "url": self.url, "httpOnly": True, "sameSite": "Strict"}


class Visit(Protocol):
    def __call__(
        self,
        path: str = "/",
        *,
        person: str | None = None,
        operator: str | None = None,
        phone: bool = False,
        dark: bool = False,
        scripts: bool = True,
    ) -> Page: ...


@pytest.fixture(scope="session")
def chromium() -> Iterator[Driven]:
    path = executable()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    with driven(path) as made:
        yield made


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    path = tmp_path_factory.mktemp("console") / "tacit.db"
    settings = unhurried()
    with tacit.open(f"sqlite:///{path}", embedder=None, settings=settings) as memory, served(memory, settings) as url:
        yield World(memory, url)


@pytest.fixture
def anywhere(database_url: str) -> Iterator[World]:
    """With a server of its own, on each database, and with what `seeding` tells of: for the one
    story of a page that is told on both."""
    settings = unhurried()
    with tacit.open(database_url, embedder=None, settings=settings) as memory, served(memory, settings) as url:
        seed(memory)
        yield World(memory, url)


@pytest.fixture
def world(serving: World) -> World:
    """Empty."""
    return replace(serving, memory=serving.memory.space(f"test{next(_NAMES)}"))


@pytest.fixture
def seeded(world: World) -> World:
    """With what `seeding` tells of, to be changed at will."""
    seed(world.memory)
    return world


@pytest.fixture(scope="module")
def shared(serving: World) -> World:
    """The same, for tests that change nothing."""
    one = replace(serving, memory=serving.memory.space("shared"))
    seed(one.memory)
    return one


@pytest.fixture
def visiting(chromium: Driven, request: pytest.FixtureRequest) -> Iterator[Callable[[World], Visit]]:
    """Pages of a world, each in a browser of its own; all are closed when the test ends."""
    chromium.go_on()
    name = re.sub(r"\W+", "_", request.node.name.removeprefix("test_")).strip("_")[:120]
    pictures = count()
    try:
        with ExitStack() as stack:

            def of(world: World) -> Visit:
                def visit(
                    path: str = "/",
                    *,
                    person: str | None = None,
                    operator: str | None = None,
                    phone: bool = False,
                    dark: bool = False,
                    scripts: bool = True,
                ) -> Page:
                    context = chromium.browser.new_context(
                        base_url=world.url,
                        viewport=PHONE if phone else DESK,  # type: ignore[arg-type]
                        color_scheme="dark" if dark else "light",
                        reduced_motion="reduce",
                        java_script_enabled=scripts,
                    )
                    stack.callback(context.close)
                    context.set_default_timeout(TIMEOUT_MS)
                    if person is not None or operator is not None:
                        context.add_cookies([world.seat(person=person, operator=operator)])
                    number = next(pictures)
                    picture = f"{name}_{number}" if number else name
                    host = world.url.removeprefix("http://")
                    page = stack.enter_context(watched(context.new_page(), host, picture))
                    page.goto(path)
                    return page

                return visit

            yield of
    finally:
        chromium.rest()


@pytest.fixture
def visit(visiting: Callable[[World], Visit], seeded: World) -> Visit:
    """Into `seeded`: `page = visit("/people", person=ALICE)`."""
    return visiting(seeded)


@pytest.fixture
def look(visiting: Callable[[World], Visit], shared: World) -> Visit:
    """Into `shared`, to change nothing."""
    return visiting(shared)


@pytest.fixture
def page(visit: Visit) -> Page:
    """The first page of Alice's."""
    return visit("/", person=ALICE)
