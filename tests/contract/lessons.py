"""Conversations that are learned from at once, so that a test can look at what came of them."""

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import LearnSettings
from tacit.view.view import View

# No threads of its own: a test says when something is learned.
BY_HAND = Settings(learn=LearnSettings(workers=0))


def asking(confirm: str) -> Settings:
    return Settings(learn=LearnSettings(workers=0, confirm=confirm))  # type: ignore[arg-type]


def told(memory: Memory, view: View, *texts: str, role: str = "user") -> None:
    """Said one after the other, and learned."""
    for text in texts:
        view.learn([Message(role, text)])
    memory.jobs.wait_for_learning()


def contents(view: View, **narrowing: str) -> list[str]:
    return sorted(one.content for one in view.list(limit=100, **narrowing).items)  # type: ignore[arg-type]


def only(view: View, words: str) -> tacit.records.memory.Memory:
    (found,) = [one for one in view.list(limit=100).items if words in one.content]
    return found
