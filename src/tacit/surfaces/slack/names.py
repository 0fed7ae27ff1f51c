"""What people are called there. Slack tells of them by ids alone, so it is asked, now and then."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from tacit import limits
from tacit.surfaces.chat.say import NotSent
from tacit.surfaces.slack.reading import NOBODY, Person


class Names:
    """In this process alone, and only so many. Who cannot be looked up has no name for a while:
    what is said of somebody whom nobody can identify stays private."""

    def __init__(
        self, ask: Callable[[str], Person], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[float, Person]] = OrderedDict()

    def __call__(self, user: str) -> Person:
        with self._lock:
            until, person = self._known.get(user, (0.0, NOBODY))
        if self._clock() < until:
            return person
        try:
            person, seconds = self._ask(user), limits.SLACK_NAMES_MAX_SECONDS
        except NotSent:
            # Yesterday's name is better than none.
            seconds = limits.SLACK_NAMELESS_MAX_SECONDS
        with self._lock:
            self._known[user] = (self._clock() + seconds, person)
            self._known.move_to_end(user)
            if len(self._known) > limits.SLACK_NAMES_MAX_COUNT:
                self._known.popitem(last=False)
        return person
