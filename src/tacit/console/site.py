"""The console of one app: its declared pages, navigation and background tasks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Lock
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tacit.clock import system_clock
from tacit.console import rendering, sessions
from tacit.console.rendering import TemplateRenderer
from tacit.console.sessions import FlashMessage, Visitor
from tacit.errors import Conflict
from tacit.memory import Memory
from tacit.server.authentication import RateLimiter
from tacit.settings import Settings

# How a file of pages is written: each says its path, who may see it, and what it is called in the
# navigation; what is done on it comes back to a page.

Handler = Callable[..., Response]
H = TypeVar("H", bound=Handler)


class PageAccess(StrEnum):
    """Whom a page is for. To all others it is as if it were not there."""

    PERSON = "person"
    OPERATOR = "operator"
    BOTH = "both"
    ANYBODY = "anybody"  # also who is not signed in

    def allows(self, visitor: Visitor | None) -> bool:
        if self is PageAccess.ANYBODY:
            return True
        if visitor is None:
            return False
        return self is PageAccess.BOTH or (self is PageAccess.OPERATOR) == visitor.is_operator


@dataclass(frozen=True, slots=True, kw_only=True)
class FlashText:
    """What a page says of what was done on the one before. `{count}`: to how many it was done."""

    one: str
    many: str | None = None
    undo: str | None = None  # where the ids are sent to, to undo it


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    method: str
    path: str
    handler: Handler
    who: PageAccess
    nav: str | None  # what the navigation calls it
    again: Handler | None  # of a form: the page that shows what is wrong with it


@dataclass(frozen=True, slots=True)
class PageGroup:
    """The pages of one topic. `said`: by the words that `Asked.to` is given."""

    flashes: Mapping[str, FlashText] = field(default_factory=dict)
    routes: list[PageRoute] = field(default_factory=list)

    def get(self, path: str, *, who: PageAccess, nav: str | None = None) -> Callable[[H], H]:
        """A handler takes an `Asked`, and the parts of its path by their names."""
        return self._add("GET", path, who=who, nav=nav, again=None)

    def post(
        self, path: str, *, who: PageAccess, again: Callable[..., Response] | None = None
    ) -> Callable[[H], H]:
        """`again`: the handler that shows the page with the form. Where something is wrong with a
        field, that is called with the same parts of the path, and `asked.wrong` says what."""
        return self._add("POST", path, who=who, nav=None, again=again)

    def _add(self, method: str, path: str, **more: Any) -> Callable[[H], H]:
        def add(handler: H) -> H:
            self.routes.append(PageRoute(method=method, path=path, handler=handler, **more))
            return handler

        return add


# What an operator sets going and need not wait for: a task of the space, a look of the doctor's.
# Few at a time, in threads of their own: pages go on being answered.

TaskName = tuple[str, str]  # the space, and what is done in it
TASK_WAIT_SECONDS = 3.0  # for so long the page waits for it
_TASK_THREADS_COUNT = 2
_RUNNING_TASKS_MAX_COUNT = 20
_TASK_RESULTS_MAX_COUNT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    at: datetime
    result: Any


class TaskRunner:
    """Of one app. What came of each is kept here, the last time of the last so many."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_TASK_THREADS_COUNT, "tacit-console")
        self._lock = Lock()
        self._running: dict[TaskName, Future[Any]] = {}
        self._results: OrderedDict[TaskName, TaskResult] = OrderedDict()

    def run(self, name: TaskName, work: Callable[[], Any]) -> bool:
        """Whether it came to its end while the page could wait. One that goes on already is not
        begun again. What went wrong meanwhile is raised."""
        going = self._start(name, work)
        if not wait_for([going], TASK_WAIT_SECONDS).done:
            return False
        going.result()
        return True

    def is_running(self, name: TaskName) -> bool:
        with self._lock:
            return name in self._running

    def last_result(self, name: TaskName) -> TaskResult | None:
        with self._lock:
            return self._results.get(name)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """What was begun comes to its end before the memory is closed."""
        try:
            yield
        finally:
            await run_in_threadpool(self._executor.shutdown, wait=True, cancel_futures=True)

    def _start(self, name: TaskName, work: Callable[[], Any]) -> Future[Any]:
        with self._lock:
            if name in self._running:
                return self._running[name]
            if len(self._running) >= _RUNNING_TASKS_MAX_COUNT:
                raise Conflict("much is being done already; wait a moment, then try again")
            self._running[name] = begun = self._executor.submit(self._work, name, work)
            return begun

    def _work(self, name: TaskName, work: Callable[[], Any]) -> None:
        try:
            done = TaskResult(at=system_clock(), result=work())
            with self._lock:
                self._results[name] = done
                self._results.move_to_end(name)
                if len(self._results) > _TASK_RESULTS_MAX_COUNT:
                    self._results.popitem(last=False)
        finally:
            with self._lock:
                del self._running[name]


# The console as a whole: one for each app. What pages are made with, and who is let in.


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFlash:
    """What was done on the page before, as this one says it."""

    says: str
    undo: str | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationEntry:
    """One entry of the navigation."""

    path: str
    name: str


class Site:
    def __init__(self, memory: Memory, settings: Settings, topics: Sequence[PageGroup]) -> None:
        self.settings = settings
        self.assets = rendering.load_assets()
        self.templates = TemplateRenderer(self.assets)
        self.memory = memory
        self.tasks = TaskRunner()
        self._groups = topics
        self._limiter = RateLimiter(settings.server.rate_per_minute)
        self._flashes: Mapping[str, FlashText] = {
            word: said for topic in topics for word, said in topic.flashes.items()
        }

    def visitor(self, request: Request) -> Visitor | None:
        cookie = sessions.get_session_cookie(request)
        sitting = None if cookie is None else self.memory.console.session(cookie)
        if sitting is None:
            return None
        return Visitor(session=sitting, memory=self.memory.space(sitting.space))

    def check_rate_limit(self, request: Request, seated: Visitor | None) -> None:
        """One request of a sitting; of those who have none, by where they come from."""
        if seated is not None:
            self._limiter.take(f"{seated.session.space} {seated.session.id}")
        else:
            self._limiter.take("" if request.client is None else request.client.host)

    def navigation(self, seated: Visitor | None) -> list[NavigationEntry]:
        return [
            NavigationEntry(path=page.path, name=page.nav)
            for topic in self._groups
            for page in topic.routes
            if seated is not None and page.nav is not None and page.who.allows(seated)
        ]

    def check_flash_key(self, word: str) -> str:
        """A word that some page declares; another one is a mistake in a page of ours."""
        if word not in self._flashes:
            raise LookupError(word)
        return word

    def show_flash(self, note: FlashMessage | None) -> ShownFlash | None:
        said = None if note is None else self._flashes.get(note.key)
        if note is None or said is None:
            return None
        says = said.many if said.many and note.count > 1 else said.one
        undo = said.undo if note.ids else None
        return ShownFlash(says=says.format(count=f"{note.count:,}"), undo=undo, ids=note.ids)
