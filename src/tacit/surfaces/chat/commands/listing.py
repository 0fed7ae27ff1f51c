"""/mem and /memory: what is remembered for somebody, a page at a time, and how far each may go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice

from tacit import limits
from tacit.memory import View
from tacit.records.memory import Memory, Sensitivity, State, Visibility
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, as_id, tell
from tacit.surfaces.chat.commands.buttons import PAGE, PAGE_SEEN, button
from tacit.surfaces.chat.commands.forgetting import delete
from tacit.surfaces.chat.commands.showing import in_brief
from tacit.surfaces.chat.say import Button, Say, Span, code, say, strong, worded

_VISIBILITIES = {"public": Visibility.PUBLIC_OK, "private": Visibility.PRIVATE_ONLY}


def memory(asked: Asked) -> list[Say]:
    """/memory, /memory list, /memory delete <id>"""
    match asked.words:
        case () | ("list",):
            return [_page(asked, 1, PAGE)]
        case ("delete" | "del", id):
            return delete(asked, as_id(id))
    return tell(wording.HOW_TO_DELETE)


def mem(asked: Asked) -> list[Say]:
    """/mem, /mem del <id>, /mem vis <id> <public|private>"""
    match asked.words:
        case () | ("list",):
            return [_page(asked, 1, PAGE_SEEN)]
        case ("del" | "delete", id):
            return delete(asked, as_id(id))
        case ("vis", id, ("public" | "private") as how):
            return _show_to(asked, as_id(id), _VISIBILITIES[how])
        case ("vis", *_):
            return tell(wording.HOW_TO_SHOW)
    return tell(wording.HOW_TO_DELETE)


def other_page(asked: Asked) -> list[Say]:
    return _turned(asked, PAGE)


def other_page_seen(asked: Asked) -> list[Say]:
    return _turned(asked, PAGE_SEEN)


def _show_to(asked: Asked, id: str, wanted: Visibility) -> list[Say]:
    asked.idempotent_view("vis").set_visibility(id, wanted)
    if wanted is Visibility.PRIVATE_ONLY:
        return tell(wording.NOW_PRIVATE)
    now = asked.view.show(id)
    sensitive = now.sensitivity is Sensitivity.SENSITIVE
    kept = sensitive or now.inferred or now.withheld_unknown
    return tell(wording.STILL_KEPT if kept else wording.NOW_PUBLIC)


def _turned(asked: Asked, does: str) -> list[Say]:
    """Another page was asked for, by its button."""
    (number,) = asked.words
    wanted = int(number) if number.isdecimal() and len(number) < 8 else 1
    return [replace(_page(asked, max(1, wanted), does), instead=True)]


def _page(asked: Asked, number: int, does: str) -> Say:
    """Counted anew each time, so that a button has no more than a number to remember. Who asks for
    a page that is not there any more gets the last one."""
    counts = _counts(asked.view)
    total = sum(counts.values())
    if not total:
        return say(wording.NO_MEMORIES)
    size = limits.CHAT_LISTED_COUNT
    last = -(-total // size)
    number = min(number, last)
    shown = _some(asked.view, counts, (number - 1) * size, size)
    spans = [strong(wording.LIST_TITLE)]
    for category, group in groupby(shown, key=lambda one: one.category):
        spans += [Span("\n\n"), strong(_title(category))]
        for one in group:
            spans += [Span("\n• ["), code(one.id), Span(f"] {in_brief(one)}")]
            if does == PAGE_SEEN:
                spans.append(Span(f" ({wording.VISIBLE[one.visibility]})"))
    ending = wording.LIST_ENDING if does == PAGE else wording.VISIBILITY_ENDING
    spans += [Span("\n\n"), *worded(ending)]
    turns = [(wording.EARLIER, number - 1)] * (number > 1) + [(wording.NEXT, number + 1)] * (
        number < last
    )
    row: tuple[Button, ...] = tuple(button(asked.who, label, does, str(n)) for label, n in turns)
    return Say(spans=tuple(spans), buttons=(row,) if row else ())


def _counts(view: View) -> dict[str, int]:
    """How many there are in each category, by its name."""
    found = {name: view.count(name, state=State.ACTIVE) for name in view.stats().by_category}
    return {name: found[name] for name in sorted(found) if found[name]}


def _some(view: View, counts: dict[str, int], skipped: int, size: int) -> Iterator[Memory]:
    """Category by category, without reading those that are passed over."""
    for category, count in counts.items():
        if size <= 0:
            return
        if skipped >= count:
            skipped -= count
            continue
        for one in islice(_all(view, category, skipped + size), skipped, skipped + size):
            size -= 1
            yield one
        skipped = 0


def _all(view: View, category: str, most: int) -> Iterator[Memory]:
    cursor = None
    while True:
        page = view.list(
            category, state=State.ACTIVE, limit=min(most, limits.PAGE_MAX_COUNT), cursor=cursor
        )
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _title(category: str) -> str:
    return category.replace("_", " ").title()
