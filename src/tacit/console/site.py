"""The console of one app: its declared pages, navigation and background tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache
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

# Declaration of pages: path, access, navigation label and handler.

Handler = Callable[..., Response]
H = TypeVar("H", bound=Handler)


class PageAccess(StrEnum):
    """Who may open a page. All other visitors get the not-found page."""

    PERSON = "person"
    OPERATOR = "operator"
    BOTH = "both"
    PUBLIC = "public"  # no sign-in needed

    def allows(self, visitor: Visitor | None) -> bool:
        if self is PageAccess.PUBLIC:
            return True
        if visitor is None:
            return False
        return self is PageAccess.BOTH or (self is PageAccess.OPERATOR) == visitor.is_operator


@dataclass(frozen=True, slots=True)
class FlashText:
    """Message about the action of the previous page. `{count}`: how many memories it changed."""

    one: str
    many: str | None = None
    undo: str | None = None  # path that undoes it, given the ids


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    method: str
    path: str
    handler: Handler
    who: PageAccess
    nav: str | None = None  # label in the navigation; None: not listed
    nav_count: Callable[[Visitor], int] | None = None  # number beside the label
    again: Handler | None = None  # of a form: the handler that shows it again with its error


@dataclass(frozen=True, slots=True)
class PageGroup:
    """The pages of one topic, and the flash messages by the key given to `redirect`."""

    flashes: Mapping[str, FlashText] = field(default_factory=dict)
    routes: list[PageRoute] = field(default_factory=list)

    def get(
        self, path: str, *, who: PageAccess, nav: str | None = None, nav_count: Callable[[Visitor], int] | None = None
    ) -> Callable[[H], H]:
        """Register a handler, which takes a PageRequest and the path parameters by name."""
        return self._add("GET", path, who=who, nav=nav, nav_count=nav_count)

    def post(self, path: str, *, who: PageAccess, again: Callable[..., Response] | None = None) -> Callable[[H], H]:
        """Register a form handler. `again`: the handler that shows the form; it is called with the
        same path parameters and `asked.wrong` when the input is invalid."""
        return self._add("POST", path, who=who, again=again)

    def _add(self, method: str, path: str, **more: Any) -> Callable[[H], H]:
        def add(handler: H) -> H:
            self.routes.append(PageRoute(method=method, path=path, handler=handler, **more))
            return handler

        return add


# Background tasks that an operator starts: jobs and doctor checks. They run in a small pool of
# their own, so they do not block the threads that answer pages.

TaskName = tuple[str, str]  # the space and the task
TASK_WAIT_SECONDS = 3.0  # how long a page waits for a task to finish
_TASK_THREADS_COUNT = 2
_RUNNING_TASKS_MAX_COUNT = 20
_TASK_RESULTS_MAX_COUNT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    at: datetime
    result: Any


class TaskRunner:
    """Run background tasks of one app and keep the last result of each."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_TASK_THREADS_COUNT, "tacit-console")
        self._lock = Lock()
        self._running: dict[TaskName, Future[Any]] = {}
        self._results: LRUCache[TaskName, TaskResult] = LRUCache(_TASK_RESULTS_MAX_COUNT)

    def run(self, name: TaskName, work: Callable[[], Any]) -> bool:
        """Start a task unless it is running; return whether it finished while the page waited.

        An error of the task is raised if it happens within that time.
        """
        with self._lock:
            future = self._running.get(name)
            if future is None:
                if len(self._running) >= _RUNNING_TASKS_MAX_COUNT:
                    raise Conflict("too many tasks are running; wait a moment, then try again")
                future = self._running[name] = self._executor.submit(self._work, name, work)
        if not wait_for([future], TASK_WAIT_SECONDS).done:
            return False
        future.result()
        return True

    def is_running(self, name: TaskName) -> bool:
        with self._lock:
            return name in self._running

    def last_result(self, name: TaskName) -> TaskResult | None:
        with self._lock:
            return self._results.get(name)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Wait for running tasks before the memory is closed."""
        try:
            yield
        finally:
            await run_in_threadpool(self._executor.shutdown, wait=True, cancel_futures=True)

    def _work(self, name: TaskName, work: Callable[[], Any]) -> None:
        try:
            done = TaskResult(at=system_clock(), result=work())
            with self._lock:
                self._results[name] = done
        finally:
            with self._lock:
                del self._running[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFlash:
    """A flash message as the page shows it."""

    says: str
    undo: str | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationEntry:
    path: str
    name: str
    count: int  # shown beside the name unless 0


class Site:
    """The console of one app: templates, assets, pages and tasks."""

    def __init__(self, memory: Memory, settings: Settings, groups: Sequence[PageGroup]) -> None:
        self.settings = settings
        self.assets = rendering.load_assets()
        self.templates = TemplateRenderer(self.assets)
        self.memory = memory
        self.tasks = TaskRunner()
        self._groups = groups
        self._limiter = RateLimiter(settings.server.rate_per_minute)
        self.flashes = {key: text for group in groups for key, text in group.flashes.items()}

    def visitor(self, request: Request) -> Visitor | None:
        cookie = sessions.get_session_cookie(request)
        session = None if cookie is None else self.memory.console.session(cookie)
        if session is None:
            return None
        return Visitor(session=session, memory=self.memory.space(session.space))

    def check_rate_limit(self, request: Request, visitor: Visitor | None) -> None:
        """Count one request of the session, or of the client's address without one."""
        if visitor is not None:
            self._limiter.take(f"{visitor.session.space} {visitor.session.id}")
        else:
            self._limiter.take("" if request.client is None else request.client.host)

    def navigation(self, visitor: Visitor | None, *, counts: bool) -> list[NavigationEntry]:
        return [
            NavigationEntry(
                path=page.path, name=page.nav, count=page.nav_count(visitor) if counts and page.nav_count else 0
            )
            for group in self._groups
            for page in group.routes
            if visitor is not None and page.nav is not None and page.who.allows(visitor)
        ]

    def show_flash(self, message: FlashMessage | None) -> ShownFlash | None:
        text = None if message is None else self.flashes.get(message.key)
        if message is None or text is None:
            return None
        says = text.many if text.many and message.count > 1 else text.one
        undo = text.undo if message.ids else None
        return ShownFlash(says=says.format(count=f"{message.count:,}"), undo=undo, ids=message.ids)
