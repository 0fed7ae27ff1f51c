"""How a file of routes is written: each says its scope, what it gives and what can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import FastAPI
from starlette.convertors import Convertor, register_url_convertor

from tacit.records.accounts import Scope
from tacit.surfaces.rest import bodies
from tacit.surfaces.rest.asking import OR_LOCAL, READS, SCOPE, AskedRoute

H = TypeVar("H", bound=Callable[..., Any])
# What every route that asks who is there may answer, and what comes with a body.
ALWAYS = (401, 403, 422, 429, 503)
WITH_BODY = (413, 415)
WRITES = "x-tacit-writes"
HEADERS = "x-tacit-headers"
SENDS = "x-tacit-sends"
MEDIA = "x-tacit-media"


class Rest(Convertor[str]):
    """The rest of a path, whatever it holds: `path` knows no ends of lines."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", Rest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    method: str
    path: str
    handler: Callable[..., Any]
    response_type: Any
    status: int
    tag: str
    problems: Mapping[int, Any]
    extensions: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of one topic; `register` adds them to an app, in the order they were written."""

    tag: str
    declarations: list[Declared] = field(default_factory=list)

    def get(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("GET", path, **told)

    def post(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("POST", path, **told)

    def put(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("PUT", path, **told)

    def patch(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("PATCH", path, **told)

    def delete(self, path: str, **told: Any) -> Callable[[H], H]:
        return self._add("DELETE", path, **told)

    def _add(
        self,
        method: str,
        path: str,
        *,
        scope: Scope | None,
        gives: Any = None,
        status: int = 200,
        problems: Sequence[int] | Mapping[int, Any] = (),
        once: bool = False,
        or_local: bool = False,
        headers: Sequence[str] = (),
        sends: Sequence[str] = (),
        media: Sequence[str] = (bodies.DOCUMENT,),
        reads: str | None = None,
    ) -> Callable[[H], H]:
        """`scope`: None for what nobody is asked for; with `or_local`, the local person needs none.
        `gives`: the type of the answer, for the document. `problems`: beside those that every route
        has; a mapping says more of each. `once`: takes an Idempotency-Key. `headers`: what else is
        taken; `sends`: what comes with the answer. `media`: what the answer is written in; `reads`:
        what the body is, where it is not JSON."""

        def add(handler: H) -> H:
            takes = handler.__annotations__
            body = reads or (bodies.DOCUMENT if "body" in takes else None)
            told_of: dict[str, Any] = {HEADERS: [*headers], SENDS: [*sends], MEDIA: [*media]}
            if scope is not None:
                told_of[SCOPE] = scope.value
            if body is not None:
                told_of[READS] = body
            if once:
                told_of[WRITES] = True
            if or_local:
                told_of[OR_LOCAL] = True
            found = problems if isinstance(problems, Mapping) else dict.fromkeys(problems)
            all_of = () if scope is None else ALWAYS
            every = dict.fromkeys((*all_of, *(WITH_BODY if body else ())))
            self.declarations.append(
                Declared(
                    method=method,
                    path=path,
                    handler=handler,
                    response_type=gives,
                    status=status,
                    tag=self.tag,
                    problems={**every, **(dict.fromkeys((404, 409)) if once else {}), **found},
                    extensions=told_of,
                )
            )
            return handler

        return add

    def register(self, app: FastAPI) -> None:
        for one in self.declarations:
            app.router.add_api_route(
                one.path,
                one.handler,
                methods=[one.method],
                response_model=one.response_type,
                status_code=one.status,
                tags=[one.tag],
                name=one.handler.__name__,
                operation_id=one.handler.__name__,
                summary=_sentence(one.handler),
                responses={code: dict(more or {}) for code, more in one.problems.items()},
                route_class_override=AskedRoute,
                openapi_extra=dict(one.extensions),
            )


def _sentence(handler: Callable[..., Any]) -> str:
    words = (handler.__doc__ or handler.__name__).strip().split("\n", 1)[0]
    return words.split(". ", 1)[0].rstrip(".")
