"""Commands that tell: /start, /help, /id, /privacy and /export; and /confidential."""

from __future__ import annotations

from tacit import limits
from tacit.memory import Memory
from tacit.records.memory import ChatKind, State
from tacit.settings import ConsoleSettings
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, is_private, tell
from tacit.surfaces.chat.heard import Heard
from tacit.surfaces.chat.say import Attachment, Say, Span, code, say


def start(memory: Memory, heard: Heard, console: ConsoleSettings) -> list[Say]:
    if not is_private(heard):
        return tell(wording.WELCOME_GROUP)
    model = () if memory.has_model() else (wording.NO_MODEL,)
    return tell("\n\n".join((wording.WELCOME, *model, _help(console))))


def help_(_: Memory, heard: Heard, console: ConsoleSettings) -> list[Say]:
    return tell(_help(console) if is_private(heard) else wording.HELP_GROUP)


def _help(console: ConsoleSettings) -> str:
    """Of the console, where there is one that a link leads to."""
    return wording.HELP + (wording.HELP_CONSOLE if console.enabled and console.url else "")


def id_(_: Memory, heard: Heard, __: ConsoleSettings) -> list[Say]:
    """Of a group no more than of any: who asks is nobody else's business there."""
    spans: list[str | Span] = ["chat ", code(heard.chat.id), f", {heard.chat.kind}"]
    if is_private(heard) and heard.who is not None:
        spans += ["\nyou ", code(heard.who.key)]
    return [say(*spans)]


def privacy(asked: Asked) -> list[Say]:
    if not asked.private:
        return tell(wording.PRIVACY_GROUP)
    kept = asked.view.count(state=State.ACTIVE)
    return tell(wording.PRIVACY.format(kept))


def export(asked: Asked) -> list[Say]:
    match asked.words:
        case ():
            lines, name = asked.view.export(everything=True), "memories.jsonl"
        case ("markdown" | "md",):
            lines, name = asked.view.export(format="markdown"), "memories.md"
        case _:
            return tell(wording.EXPORT_FORMS)
    found, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > limits.CHAT_EXPORT_MAX_CHARS:
            return tell(wording.EXPORT_TOO_LARGE)
        found.append(line)
    file = Attachment(name=name, text="\n".join(found) + "\n")
    return [Say(spans=(Span(wording.EXPORT),), attachment=file)]


def confidential(asked: Asked) -> list[Say]:
    """What leaves a group is for its admins to say, as the channel knows them."""
    heard = asked.message
    if heard.chat.kind is not ChatKind.GROUP:
        return tell(wording.GROUPS_ONLY)
    if asked.words not in ((), ("on",), ("off",)):
        return tell(wording.HOW_CONFIDENTIAL)
    if not asked.sender.is_admin(heard.chat, asked.who):
        return tell(wording.ADMINS_ONLY)
    on = asked.words != ("off",)
    asked.memory.set_confidential(heard.chat.id, on)
    return tell(wording.CONFIDENTIAL if on else wording.NOT_CONFIDENTIAL)
