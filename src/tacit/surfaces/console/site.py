"""The console as a whole: one for each app. What pages are made with, and who is let in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request

from tacit.memory import Memory
from tacit.server.authentication import RateLimiter
from tacit.settings import Settings
from tacit.surfaces.console import assets, cookies
from tacit.surfaces.console.cookies import Note
from tacit.surfaces.console.errands import Errands
from tacit.surfaces.console.rendering import Rendering
from tacit.surfaces.console.routes import Pages, Said
from tacit.surfaces.console.visitor import Visitor


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was done on the page before, as this one says it."""

    says: str
    undo: str | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One entry of the navigation."""

    path: str
    name: str


class Site:
    def __init__(self, memory: Memory, settings: Settings, topics: Sequence[Pages]) -> None:
        self.settings = settings
        self.assets = assets.read()
        self.templates = Rendering(self.assets)
        self.memory = memory
        self.tasks = Errands()
        self._groups = topics
        self._limiter = RateLimiter(settings.server.rate_per_minute)
        self._flashes: Mapping[str, Said] = {
            word: said for topic in topics for word, said in topic.flashes.items()
        }

    def visitor(self, request: Request) -> Visitor | None:
        cookie = cookies.sitting_of(request)
        sitting = None if cookie is None else self.memory.signed_in(cookie)
        if sitting is None:
            return None
        return Visitor(session=sitting, memory=self.memory.space(sitting.space))

    def check_rate_limit(self, request: Request, seated: Visitor | None) -> None:
        """One request of a sitting; of those who have none, by where they come from."""
        if seated is not None:
            self._limiter.take(f"{seated.session.space} {seated.session.id}")
        else:
            self._limiter.take("" if request.client is None else request.client.host)

    def navigation(self, seated: Visitor | None) -> list[Place]:
        return [
            Place(path=page.path, name=page.nav)
            for topic in self._groups
            for page in topic.routes
            if seated is not None and page.nav is not None and page.who.allows(seated)
        ]

    def check_flash_key(self, word: str) -> str:
        """A word that some page declares; another one is a mistake in a page of ours."""
        if word not in self._flashes:
            raise LookupError(word)
        return word

    def show_flash(self, note: Note | None) -> Told | None:
        said = None if note is None else self._flashes.get(note.key)
        if note is None or said is None:
            return None
        says = said.many if said.many and note.count > 1 else said.one
        undo = said.undo if note.ids else None
        return Told(says=says.format(count=f"{note.count:,}"), undo=undo, ids=note.ids)
