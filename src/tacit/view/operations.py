"""Declare the public operations of views: each method carries what every surface needs to know."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NoReturn,
    Protocol,
    TypeVar,
    cast,
    get_type_hints,
    overload,
)

from tacit.errors import NotFound

if TYPE_CHECKING:
    from tacit.storage.idempotency import IdempotentResult
    from tacit.view.context import ViewContext

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R", bound="Resource")
Arguments = Mapping[str, Any]  # the arguments of a call, by name


class Repeat(Enum):
    """The effect of a second call under the same idempotency key."""

    READ = "read"  # a read: the key has no effect
    REPLAYED = "replayed"  # answered from the record of the first call
    HARMLESS = "harmless"  # runs again: the operation is idempotent
    REFUSED = "refused"  # InvalidInput: the default of every write


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The rule that answers a repeated write under its idempotency key.

    `record` selects what is stored of the outcome, in the same transaction; `replay` builds the
    answer from that record.
    """

    record: Callable[[Any, Arguments], tuple[Mapping[str, Any], Any]]
    replay: Callable[[ViewContext, IdempotentResult, Arguments], Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The HTTP request of an operation: the server serves it, and a remote view sends it.

    Arguments that the path names stand in the path. The others are the query string of a GET or
    DELETE, and the JSON body of a POST or PUT, except for those that `query` names.
    """

    method: str
    path: str  # a template of Starlette: /api/items/{category}/{key:rest}
    query: tuple[str, ...]
    paged: bool  # the list of the answer comes in pages

    @classmethod
    def parse(cls, declared: str, paged: bool) -> Endpoint:
        """Parse `POST /api/memory/{id}/erase?turns`."""
        method, _, target = declared.partition(" ")
        path, _, query = target.partition("?")
        return cls(method, path, tuple(query.split("&")) if query else (), paged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One public operation, declared by the decorator of its method."""

    name: str  # "remember", "proposals.approve"
    method: Callable[..., Any] = field(repr=False)  # undecorated
    repeat: Repeat
    replay: Replay | None
    disabled: Any  # answer of a disabled view: a value, or a function that makes or raises it
    measured_as: str  # name of the operation in metrics
    lines: bool  # returns an iterator; timed until it is exhausted
    endpoint: Endpoint | None  # None: only where the memory is open

    @property
    def writes(self) -> bool:
        return self.repeat is not Repeat.READ

    def disabled_outcome(self) -> Any:
        return self.disabled() if callable(self.disabled) else self.disabled


class Dispatch(Protocol):
    """An interceptor between the call of an operation and its method."""

    def invoke(
        self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments
    ) -> Any: ...


class Resource:
    """A group of operations on one context.

    Without a dispatch, methods run directly. An operation that calls another one is therefore
    measured and recorded once.
    """

    __slots__ = ("_context", "_dispatch")

    def __init__(self, context: ViewContext, dispatch: Dispatch | None = None) -> None:
        self._context = context
        self._dispatch = dispatch

    def __init_subclass__(cls, name: str | None = None, measured_as: str | None = None) -> None:
        """Register the resource; `name` is the attribute of the view that returns it."""
        super().__init_subclass__()
        if name is None:
            return
        for method in vars(cls).values():
            declared = getattr(method, "__operation__", None)
            if declared is not None:
                full = f"{name}.{declared.name}"
                label = measured_as or full.replace(".", "_")
                method.__operation__ = replace(declared, name=full, measured_as=label)


class resource(Generic[R]):  # noqa: N801 (a descriptor, used like property)
    """An attribute of a view that is a resource. Each access creates a new one."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind

    @overload
    def __get__(self, owner: None, kind: type) -> resource[R]: ...
    @overload
    def __get__(self, owner: Resource, kind: type) -> R: ...
    def __get__(self, owner: Resource | None, kind: type) -> R | resource[R]:
        return self if owner is None else self.kind(owner._context, owner._dispatch)


def read(
    http: str | None = None, *, disabled: Any, lines: bool = False, paged: bool = False
) -> Callable[[F], F]:
    """Declare an operation that changes nothing; see `Endpoint` for `http` and `paged`."""
    return _declare(Repeat.READ, None, disabled, lines, http, paged)


def write(
    http: str | None = None,
    *,
    disabled: Any,
    replay: Replay | None = None,
    repeat: Repeat = Repeat.REFUSED,
) -> Callable[[F], F]:
    """Declare an operation that changes something.

    Without `replay` or `repeat` it is refused under an idempotency key, so that it never runs
    twice.
    """
    how = Repeat.REPLAYED if replay is not None else repeat
    return _declare(how, replay, disabled, False, http, False)


def not_found(what: str = "memory") -> Callable[[], NoReturn]:
    """Make a disabled view raise NotFound for an operation that needs an existing item."""

    def refuse() -> NoReturn:
        raise NotFound(what)

    return refuse


def _declare(
    repeat: Repeat,
    replay: Replay | None,
    disabled: Any,
    lines: bool,
    http: str | None,
    paged: bool,
) -> Callable[[F], F]:
    def decorate(method: F) -> F:
        @wraps(method)
        def call(self: Resource, *args: Any, **named: Any) -> Any:
            dispatch = self._dispatch
            if dispatch is None:
                return method(self, *args, **named)
            return dispatch.invoke(call.__operation__, self, args, named)  # type: ignore[attr-defined]

        call.__operation__ = Operation(  # type: ignore[attr-defined]
            name=method.__name__,
            method=method,
            repeat=repeat,
            replay=replay,
            disabled=disabled,
            measured_as=method.__name__,
            lines=lines,
            endpoint=None if http is None else Endpoint.parse(http, paged),
        )
        return cast("F", call)

    return decorate


def list_operations(view: type[Resource]) -> Iterator[Operation]:
    """List the operations of a class and of its resources."""
    for base in reversed(view.__mro__):
        for member in vars(base).values():
            declared = getattr(member, "__operation__", None)
            if declared is not None:
                yield declared
            elif isinstance(member, resource):
                yield from list_operations(member.kind)


def signature_of(operation: Operation) -> inspect.Signature:
    return inspect.signature(operation.method)


@cache
def type_hints_of(method: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the types of the parameters and, as `return`, of the answer."""
    return get_type_hints(method)
