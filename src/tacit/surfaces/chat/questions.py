"""The question that each person was just asked in each conversation, for replies in words."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from tacit import limits
from tacit.records.request import Chat, Requester
from tacit.surfaces.chat.heard import Heard
from tacit.surfaces.chat.say import Outlet, Question, Say


class OpenQuestions:
    """The questions of this process; safe to share between threads. A question is open as long as
    it is the last thing that was said in its conversation. A reply of one person never finds a
    question that another person was asked, or that was asked elsewhere."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, tuple[str, Question]] = OrderedDict()  # by conversation
        self._lock = threading.Lock()

    def find(self, heard: Heard) -> Question | None:
        if heard.who is None:
            return None
        with self._lock:
            who, question = self._asked.get(heard.conversation, (None, None))
            return question if who == heard.who.key else None

    def record(self, heard: Heard, says: Iterable[Say]) -> None:
        """Note what was said after something was heard. After nothing, what was asked is open."""
        said = list(says)
        if not said:
            return
        asked = said[-1].asks
        with self._lock:
            self._asked.pop(heard.conversation, None)
            if asked is not None and heard.who is not None:
                self._asked[heard.conversation] = (heard.who.key, asked)
            while len(self._asked) > limits.CHAT_QUESTIONED_PEOPLE_MAX_COUNT:
                self._asked.popitem(last=False)

    def close(self, person: str) -> None:
        """Close what this person was asked, in whichever conversation."""
        with self._lock:
            for conversation in [one for one, (who, _) in self._asked.items() if who == person]:
                del self._asked[conversation]


@dataclass(frozen=True, slots=True)
class ClosingOutlet:
    """An outlet for telling another person something: that comes after what they were asked."""

    sender: Outlet
    questions: OpenQuestions

    def send(
        self, where: Chat, to: Requester | None, what: Say, *, after: Heard | None = None
    ) -> None:
        if to is not None:
            self.questions.close(to.key)
        self.sender.send(where, to, what, after=after)

    def is_admin(self, where: Chat, who: Requester) -> bool:
        return self.sender.is_admin(where, who)
