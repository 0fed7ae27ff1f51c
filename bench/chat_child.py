"""A `tacit telegram` that keeps count of itself, for the benchmarks of bots.

In the end it prints one JSON line: what it heard, whether that was in order, how long it worked on
it, and how much of that time the library's own calls took, by their names.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tacit.bots.bot import Bot
from tacit.bots.dispatcher import UpdateHandler
from tacit.bots.messages import ChannelSender, InboundMessage, OutboundMessage
from tacit.cli import main
from tacit.memory import Memory, View


class Counts:
    def __init__(self) -> None:
        self.heard = 0
        self.out_of_order = 0
        self.busy_seconds = 0.0
        self.sending_seconds = 0.0
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self.last: dict[str, int] = {}
        self.lock = threading.Lock()
        self.inside = threading.local()

    def document(self) -> dict[str, Any]:
        names = sorted(self.seconds, key=lambda name: -self.seconds[name])
        return {
            "heard": self.heard,
            "out_of_order": self.out_of_order,
            "busy_seconds": self.busy_seconds,
            "sending_seconds": self.sending_seconds,
            "library": [[name, self.calls[name], self.seconds[name]] for name in names],
        }


counts = Counts()


def _timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The outermost call in a thread counts: what it calls in turn is a part of it."""

    @functools.wraps(call)
    def measured(*args: Any, **named: Any) -> Any:
        if getattr(counts.inside, "library", False):
            return call(*args, **named)
        counts.inside.library = True
        begun = time.perf_counter()
        try:
            return call(*args, **named)
        finally:
            counts.inside.library = False
            with counts.lock:
                counts.calls[name] += 1
                counts.seconds[name] += time.perf_counter() - begun

    return measured


def time_the_library() -> None:
    # What is done at most once is done by a kind of view of its own.
    for what, kinds in (("memory", Memory.__mro__), ("view", (*View.__mro__, *_kinds_of(View)))):
        for kind in kinds:
            ours = vars(kind).items() if kind.__module__.startswith("tacit") else ()
            for name, call in list(ours):
                if inspect.isfunction(call) and not name.startswith("_"):
                    setattr(kind, name, _timed(f"{what}.{name}", call))


def _kinds_of(kind: type[object]) -> list[type[object]]:
    return [one for sub in kind.__subclasses__() for one in (sub, *_kinds_of(sub))]


def count_what_is_heard() -> None:
    hear, do, sent = Bot.hear, UpdateHandler.do, UpdateHandler._sent

    def counted(self: Bot, heard: InboundMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        number = int(heard.update.rpartition(".")[2])
        with counts.lock:
            counts.heard += 1
            counts.out_of_order += number <= counts.last.get(heard.chat.id, 0)
            counts.last[heard.chat.id] = number
        return hear(self, heard, outlet)

    def worked(self: UpdateHandler, number: int) -> float | None:
        begun = time.perf_counter()
        try:
            return do(self, number)
        finally:
            with counts.lock:
                counts.busy_seconds += time.perf_counter() - begun

    def sending(self: UpdateHandler, unsent: Any) -> float | None:
        begun = time.perf_counter()
        try:
            return sent(self, unsent)
        finally:
            with counts.lock:
                counts.sending_seconds += time.perf_counter() - begun

    setattr(Bot, "hear", counted)  # noqa: B010 - a method is replaced, and that is meant
    setattr(UpdateHandler, "do", worked)  # noqa: B010
    setattr(UpdateHandler, "_sent", sending)  # noqa: B010


if __name__ == "__main__":
    count_what_is_heard()
    time_the_library()
    code = main([*sys.argv[1:], "telegram"])
    print(json.dumps(counts.document()), flush=True)
    sys.exit(code)
