"""What begins with a slash, and the buttons under what it said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tacit.errors import NotFound, StoreError, TacitError
from tacit.memory import DisabledView, Memory, View
from tacit.settings import ConsoleSettings
from tacit.surfaces.chat.commands import (
    buttons,
    forgetting,
    linking,
    listing,
    signing,
    telling,
    undoing,
    wording,
)
from tacit.surfaces.chat.commands.asked import Asked, is_private, taken_apart, tell
from tacit.surfaces.chat.heard import Heard, Pressed, Said
from tacit.surfaces.chat.say import Outlet, Question, Say

Act = Callable[[Asked], list[Say]]
# For anybody, also for those whom no channel vouches for.
FOR_ALL: Mapping[str, Callable[[Memory, Heard, ConsoleSettings], list[Say]]] = {
    "start": telling.start,
    "help": telling.help_,
    "id": telling.id_,
}
IN_PRIVATE: Mapping[str, Act] = {
    "mem": listing.mem,
    "memory": listing.memory,
    "undo": undoing.undo,
    "export": telling.export,
    "link": linking.link,
    "unlink": linking.unlink,
    "console": signing.console,
}
ANYWHERE: Mapping[str, Act] = {
    "forget": forgetting.forget,
    "privacy": telling.privacy,
    "confidential": telling.confidential,
}
BUTTONS: Mapping[str, Act] = {
    buttons.PAGE: listing.other_page,
    buttons.PAGE_SEEN: listing.other_page_seen,
    buttons.FORGET: forgetting.chosen,
    buttons.TAKE_BACK: undoing.take_back,
    buttons.RESTORE: undoing.restore,
    buttons.WIPE: forgetting.wipe,
    buttons.LINK: linking.pressed,
    buttons.LINK_ACCEPT: linking.accept,
}
# The others are about what was told in private, and nobody has them anywhere else.
_PRESSED_ANYWHERE = (buttons.TAKE_BACK, buttons.RESTORE)


@dataclass(frozen=True, slots=True)
class Commands:
    """Raises nothing but what went wrong with the store; then it may be asked again."""

    memory: Memory
    console: ConsoleSettings = field(default_factory=ConsoleSettings)

    def run(self, view: View | DisabledView, said: Said, outlet: Outlet) -> list[Say]:
        found = taken_apart(said.text)
        if found is None or said.edited:
            return []  # a command that is changed afterwards was done as it was first written
        told = self._run(view, said, outlet, *found)
        return told if is_private(said) else [replace(one, answers=said.message) for one in told]

    def press(
        self, view: View | DisabledView, pressed: Pressed, outlet: Outlet
    ) -> list[Say] | None:
        """None: the button is none of ours. Nothing: it is somebody else's. By the outlet, the
        other side of a link is told what happens to it."""
        found = buttons.read(pressed)
        if found is None:
            return None
        if found == buttons.NOT_THEIRS or isinstance(view, DisabledView) or pressed.who is None:
            return []
        does, *words = found
        if does not in _PRESSED_ANYWHERE and not is_private(pressed):
            return []
        asked = Asked(
            memory=self.memory,
            view=view,
            message=pressed,
            who=pressed.who,
            words=tuple(words),
            sender=outlet,
            console=self.console,
        )
        return _kindly(BUTTONS[does], asked)

    def choose(
        self, view: View | DisabledView, said: Said, outlet: Outlet, question: Question
    ) -> list[Say]:
        """The reply to a list of memories of which some are to be forgotten; nothing where it is no
        reply to that."""
        if isinstance(view, DisabledView) or said.who is None or not is_private(said):
            return []
        asked = Asked(
            memory=self.memory,
            view=view,
            message=said,
            who=said.who,
            words=(said.text,),
            sender=outlet,
            console=self.console,
        )
        return _kindly(lambda one: forgetting.choose(one, question), asked)

    def _run(
        self,
        view: View | DisabledView,
        said: Said,
        outlet: Outlet,
        name: str,
        words: tuple[str, ...],
    ) -> list[Say]:
        if name in FOR_ALL:
            return FOR_ALL[name](self.memory, said, self.console)
        if name not in (*IN_PRIVATE, *ANYWHERE):
            # In a group it may be meant for another bot.
            return tell(wording.UNKNOWN) if is_private(said) else []
        if isinstance(view, DisabledView) or said.who is None:
            return tell(wording.DISABLED)
        if name in IN_PRIVATE and not is_private(said):
            return tell(wording.PRIVATE_ONLY)
        asked = Asked(
            memory=self.memory,
            view=view,
            message=said,
            who=said.who,
            words=words,
            sender=outlet,
            console=self.console,
        )
        return _kindly(IN_PRIVATE.get(name) or ANYWHERE[name], asked)


def _kindly(act: Act, asked: Asked) -> list[Say]:
    """Absent and forbidden read alike; what else is refused tells no more than that."""
    try:
        return act(asked)
    except StoreError:
        raise
    except NotFound:
        return tell(wording.NO_SUCH)
    except TacitError:
        return tell(wording.NOT_POSSIBLE)
