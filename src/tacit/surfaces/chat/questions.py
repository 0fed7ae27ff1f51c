"""The last question that each person was asked in each conversation, for replies in words."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from tacit import chat_limits
from tacit.surfaces.chat.heard import Heard
from tacit.surfaces.chat.say import Question, Say

_BY_BUTTONS = Question(ids=())  # which no words answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    question: Question
    just_now: bool  # nothing else was said to the person there since


class OpenQuestions:
    """Of this process; safe to share between threads. A reply of one person never finds a question
    that another person was asked, or that was asked elsewhere."""

    def __init__(self) -> None:
        self._asked: OrderedDict[tuple[str, str], Asked] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, heard: Heard) -> Asked | None:
        if heard.who is None:
            return None
        with self._lock:
            return self._asked.get((heard.who.key, heard.conversation))

    def note(self, heard: Heard, says: Iterable[Say]) -> None:
        """Note what was said after something was heard."""
        said = list(says)
        if heard.who is None or not said:
            return
        key = (heard.who.key, heard.conversation)
        asked = [one.asks for one in said if one.asks is not None]
        if not asked and any(sum(map(len, one.buttons)) > 1 for one in said):
            asked = [_BY_BUTTONS]
        with self._lock:
            before = self._asked.pop(key, None)
            if asked:
                self._asked[key] = Asked(question=asked[-1], just_now=True)
            elif before is not None and before.question.ids and not before.question.forgets:
                self._asked[key] = Asked(question=before.question, just_now=False)
            while len(self._asked) > chat_limits.CHAT_ASKED_MAX_COUNT:
                self._asked.popitem(last=False)
