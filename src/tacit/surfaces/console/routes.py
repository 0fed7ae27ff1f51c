"""How a file of pages is written: each says its path, who may see it, and what it is called in the
navigation; what is done on it comes back to a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.responses import Response

if TYPE_CHECKING:
    from tacit.surfaces.console.visitor import Visitor

Handler = Callable[..., Response]
H = TypeVar("H", bound=Handler)


class Who(StrEnum):
    """Whom a page is for. To all others it is as if it were not there."""

    PERSON = "person"
    OPERATOR = "operator"
    BOTH = "both"
    ANYBODY = "anybody"  # also who is not signed in

    def allows(self, visitor: Visitor | None) -> bool:
        if self is Who.ANYBODY:
            return True
        if visitor is None:
            return False
        return self is Who.BOTH or (self is Who.OPERATOR) == visitor.is_operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a page says of what was done on the one before. `{count}`: to how many it was done."""

    one: str
    many: str | None = None
    undo: str | None = None  # where the ids are sent to, to undo it


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    method: str
    path: str
    handler: Handler
    who: Who
    nav: str | None  # what the navigation calls it
    again: Handler | None  # of a form: the page that shows what is wrong with it


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one topic. `said`: by the words that `Asked.to` is given."""

    flashes: Mapping[str, Said] = field(default_factory=dict)
    routes: list[Declared] = field(default_factory=list)

    def get(self, path: str, *, who: Who, nav: str | None = None) -> Callable[[H], H]:
        """A handler takes an `Asked`, and the parts of its path by their names."""
        return self._add("GET", path, who=who, nav=nav, again=None)

    def post(
        self, path: str, *, who: Who, again: Callable[..., Response] | None = None
    ) -> Callable[[H], H]:
        """`again`: the handler that shows the page with the form. Where something is wrong with a
        field, that is called with the same parts of the path, and `asked.wrong` says what."""
        return self._add("POST", path, who=who, nav=None, again=again)

    def _add(self, method: str, path: str, **more: Any) -> Callable[[H], H]:
        def add(handler: H) -> H:
            self.routes.append(Declared(method=method, path=path, handler=handler, **more))
            return handler

        return add
