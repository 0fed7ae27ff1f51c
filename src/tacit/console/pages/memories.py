"""List, show, change, undo and erase memories, one or several at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from starlette.responses import Response

from tacit import Page, limits
from tacit.console import audience, diff, labels, requests
from tacit.console.diff import DiffPiece
from tacit.console.labels import external_key
from tacit.console.requests import PageRequest
from tacit.console.sessions import FlashMessage, Visitor
from tacit.console.site import FlashText, PageAccess, PageGroup
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.limits import BULK_PREVIEW_MAX_COUNT, BULK_SELECTION_MAX_COUNT, TIMELINE_SHOWN_COUNT
from tacit.records.memory import ChatKind, HistoryEntry, Memory, State, Visibility
from tacit.records.results import Erased

# What a visitor does to memories: a person to their own alone, an operator as far as operators go.
#
# What was done has a mark, by which it is taken back: an id, with what it was before or is
# since, so that nothing is taken back which somebody changed again.

_TOKEN_SEPARATOR = "-"
_FORGOTTEN_STATES = (State.FORGOTTEN, State.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    id: str  # under which it is found since
    changed: bool = True  # false: it was so already
    undo_tokens: tuple[str, ...] = ()  # none: it cannot be taken back


def get_managed_memory(visitor: Visitor, id: str) -> Memory:
    """One that is theirs to look after. What others let them hear is not, and here it is as if it
    were not there."""
    if visitor.is_operator:
        return visitor.operator.show(id)
    memory = visitor.view.show(id)
    if memory.is_turn or memory.owner is None:
        raise NotFound
    if external_key(memory.owner) not in visitor.view.account.identities():
        raise NotFound
    return memory


def forget_memory(visitor: Visitor, id: str) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    if memory.state is State.PENDING:
        raise Conflict("it waits for a yes: say no to it among the proposals")
    visitor.api.forget(id)
    return _action_result(id, memory.state not in _FORGOTTEN_STATES)


def restore_memory(visitor: Visitor, id: str) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    visitor.api.restore(id)
    if memory.state is State.EXPIRED:
        return ActionResult(id=id)  # expired again is not what forgetting would make it
    return _action_result(id, memory.state is State.FORGOTTEN)


def pin_memory(visitor: Visitor, id: str) -> ActionResult:
    return _set_pinned(visitor, id, on=True)


def unpin_memory(visitor: Visitor, id: str) -> ActionResult:
    return _set_pinned(visitor, id, on=False)


def _set_pinned(visitor: Visitor, id: str, *, on: bool) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    visitor.view.pin(id, on)
    return _action_result(id, memory.pinned is not on)


def change_visibility(visitor: Visitor, id: str, to: Visibility) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    changed = memory.visibility is not to
    if visitor.is_operator:
        visitor.operator.lower_visibility(id, to)
        return ActionResult(id=id, changed=changed)  # only its owner raises it again
    visitor.view.set_visibility(id, to)
    return _action_result(id, changed, join_undo_token(id, memory.visibility, to))


def update_content(visitor: Visitor, id: str, content: str, version: int) -> ActionResult:
    """Marked with its version, and with what it took the place of, if it did."""
    memory = get_managed_memory(visitor, id)
    if visitor.is_operator:
        visitor.operator.update(id, content, if_version=version)
        return ActionResult(id=id, undo_tokens=(join_undo_token(id, str(version + 1)),))
    done = visitor.view.update(id, content, if_version=version)
    replaced = () if done.supersedes is None else (done.supersedes,)
    changed = done.id != id or done.version != memory.version
    return _action_result(done.id, changed, join_undo_token(done.id, str(done.version)), *replaced)


def withhold_memory(visitor: Visitor, id: str, who: str) -> ActionResult:
    """For good: it can be withheld from more people, and from no fewer."""
    get_managed_memory(visitor, id)
    visitor.api.withhold_from(id, [who])
    return ActionResult(id=id)


def erase_memory(visitor: Visitor, id: str, *, turns: bool = False) -> Erased:
    get_managed_memory(visitor, id)
    if visitor.is_operator:
        return visitor.operator.erase(id)
    return visitor.view.erase(id, turns=turns)


def _action_result(id: str, changed: bool, *marks: str) -> ActionResult:
    return ActionResult(id=id, changed=changed, undo_tokens=(marks or (id,)) if changed else ())


def join_undo_token(*parts: str) -> str:
    return _TOKEN_SEPARATOR.join(parts)


def split_undo_token(marked: str, count: int) -> list[str]:
    found = marked.split(_TOKEN_SEPARATOR)
    if len(found) != count:
        raise NotFound
    return found


# The first page: what is remembered, newest first; searched as you type, narrowed by filters.

list_pages = PageGroup()
NO_MEMORIES: Page[Memory] = Page()


@list_pages.get("/", who=PageAccess.BOTH, nav="Memories")
def show_list(asked: PageRequest) -> Response:
    found, count, most, problem = NO_MEMORIES, 0, limits.BROWSE_COUNT_MAX_COUNT, None
    try:
        search = requests.parse_search(asked)
        words = asked.visitor.api
        cursor = asked.query.line("cursor")
        found = words.browse(search, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor)
        if search.words is None:
            count = words.browse_count(search)
        else:
            # Not counted further than the page: at each letter, that would cost more than finding.
            count = len(found)
            most = count if found.cursor or cursor else most
    except InvalidInput as wrong:
        # To who types, not a failure: the next letter may put it right.
        asked = asked if asked.is_fragment else asked.with_error(wrong)
        problem = wrong.problem
    return asked.render(
        "memories.html",
        fragment="memories_found.html",
        found=found,
        count=count,
        most=most,
        problem=problem,
        narrowed=requests.count_filters(asked),
        bulk=requests.url_with_search(asked, "/chosen"),
        names=labels.labels_for(asked.visitor),
        **({} if asked.is_fragment else requests.list_filter_choices(asked)),
    )


# One memory: all that is known of it, what became of its wording, and what can be done at once.

memory_pages = PageGroup(
    flashes={
        "forgotten": FlashText(
            one="It is forgotten.", many="{count} are forgotten.", undo="/undo/forgotten"
        ),
        "restored": FlashText(
            one="It is remembered again.",
            many="{count} are remembered again.",
            undo="/undo/restored",
        ),
        "pinned": FlashText(one="It is pinned.", many="{count} are pinned.", undo="/undo/pinned"),
        "unpinned": FlashText(
            one="It is no longer pinned.",
            many="{count} are no longer pinned.",
            undo="/undo/unpinned",
        ),
        "unchanged": FlashText(one="Nothing was changed: it was so already."),
    }
)
RESTORABLE_STATES = (State.FORGOTTEN, State.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """One line of what became of a memory."""

    entry: HistoryEntry
    says: str
    pieces: tuple[DiffPiece, ...]  # what changed in its wording; empty where nothing did


@memory_pages.get("/memories/{id}", who=PageAccess.BOTH)
def show_memory(asked: PageRequest, id: str) -> Response:
    memory = get_managed_memory(asked.visitor, id)
    history = asked.visitor.api.history(id)
    earlier = asked.query.integer("earlier", 0, 0, len(history))
    shown, rest = _history_lines(history, earlier)
    return asked.render(
        "memory.html",
        memory=memory,
        names=labels.labels_for(asked.visitor, memory.subjects | memory.withheld_from),
        timeline=shown,
        earlier=earlier,
        older=rest,
        newer=_get_successor(asked, memory),
        restorable=memory.state in RESTORABLE_STATES,
        editable=memory.state is State.ACTIVE,
    )


def _get_successor(asked: PageRequest, memory: Memory) -> Memory | None:
    """What stands in its place, if that is theirs, too: hearsay gives way to whom it is about."""
    try:
        return get_managed_memory(asked.visitor, memory.superseded_by or "")
    except NotFound:
        return None


def _history_lines(
    history: list[HistoryEntry], earlier: int
) -> tuple[list[HistoryLine], int | None]:
    """Newest first, from so many before the newest on; and where the next ones begin."""
    end = len(history) - earlier
    start = max(0, end - TIMELINE_SHOWN_COUNT)
    before = [None, *history][start:end]
    shown = [
        _history_line(one, prior) for prior, one in zip(before, history[start:end], strict=True)
    ]
    return shown[::-1], earlier + len(shown) if start > 0 else None


def _history_line(entry: HistoryEntry, prior: HistoryEntry | None) -> HistoryLine:
    now, then = entry.content or "", "" if prior is None else prior.content or ""
    pieces: tuple[DiffPiece, ...] = ()
    if prior is None:
        pieces = (DiffPiece(now),) if now else ()
    elif now != then:
        pieces = diff.diff_words(then, now)
    return HistoryLine(entry=entry, says=labels.describe_history_entry(entry), pieces=pieces)


def redirect_to_memory(asked: PageRequest, what: ActionResult, said: str) -> Response:
    """Back to the memory, which says what was done and how to take it back."""
    path = f"/memories/{what.id}"
    return asked.redirect(
        path, said=said if what.changed else "unchanged", ids=what.undo_tokens, count=1
    )


@memory_pages.post("/memories/{id}/forget", who=PageAccess.BOTH, again=show_memory)
def post_forget(asked: PageRequest, id: str) -> Response:
    return redirect_to_memory(asked, forget_memory(asked.visitor, id), "forgotten")


@memory_pages.post("/memories/{id}/restore", who=PageAccess.BOTH, again=show_memory)
def post_restore(asked: PageRequest, id: str) -> Response:
    return redirect_to_memory(asked, restore_memory(asked.visitor, id), "restored")


@memory_pages.post("/memories/{id}/pin", who=PageAccess.PERSON)
def post_pin(asked: PageRequest, id: str) -> Response:
    return redirect_to_memory(asked, pin_memory(asked.visitor, id), "pinned")


@memory_pages.post("/memories/{id}/unpin", who=PageAccess.PERSON)
def post_unpin(asked: PageRequest, id: str) -> Response:
    return redirect_to_memory(asked, unpin_memory(asked.visitor, id), "unpinned")


# Other words for a memory. Where somebody else was quicker, both wordings are shown, and none is
# lost.

edit_pages = PageGroup(
    flashes={"reworded": FlashText(one="The wording is changed.", undo="/undo/reworded")}
)
_VERSION_MAX = 2**31


@edit_pages.get("/memories/{id}/edit", who=PageAccess.BOTH)
def show_edit_form(asked: PageRequest, id: str) -> Response:
    memory = get_managed_memory(asked.visitor, id)
    written = asked.form.text("content") if asked.wrong else memory.content
    overtaken = isinstance(asked.wrong, Conflict) and memory.state is State.ACTIVE
    return asked.render(
        "question.html",
        fragment="memory_edit.html",
        title="Change the wording",
        part="memory_edit.html",
        memory=memory,
        written=written,
        most_chars=limits.CONTENT_MAX_CHARS,
        leaves_room=memory.learned_kind is ChatKind.GROUP and not asked.visitor.is_operator,
        overtaken=diff.diff_words(memory.content, written) if overtaken else None,
    )


@edit_pages.post("/memories/{id}/edit", who=PageAccess.BOTH, again=show_edit_form)
def post_edit(asked: PageRequest, id: str) -> Response:
    version = asked.form.integer("version", 1, 1, _VERSION_MAX)
    content = asked.form.text("content")
    return redirect_to_memory(
        asked, update_content(asked.visitor, id, content, version), "reworded"
    )


# Erasing one memory for good: by a word that is typed, and with a certificate of what went.

erase_pages = PageGroup()
ERASE_WORD = "erase"


@erase_pages.get("/memories/{id}/erase", who=PageAccess.BOTH)
def show_erase_form(asked: PageRequest, id: str) -> Response:
    return asked.render(
        "question.html",
        fragment="memory_erase.html",
        title="Erase it for good",
        part="memory_erase.html",
        memory=get_managed_memory(asked.visitor, id),
        word=ERASE_WORD,
    )


@erase_pages.post("/memories/{id}/erase", who=PageAccess.BOTH, again=show_erase_form)
def post_erase(asked: PageRequest, id: str) -> Response:
    """Shown at once, and not on a page of its own: nothing of it is kept to be shown later."""
    check_erase_word(asked)
    erased = erase_memory(asked.visitor, id, turns=asked.form.flag("turns"))
    return asked.render("erased.html", erased=[erased], refused=[], back="/")


def check_erase_word(asked: PageRequest) -> None:
    if (asked.form.line("word") or "").casefold() != ERASE_WORD:
        raise InvalidInput("word", f"type the word {ERASE_WORD} as it is shown, or leave it")


# What is done to several memories at once. Each is done or refused by itself, and it is said which
# were not done and why.

T = TypeVar("T")
bulk_pages = PageGroup(
    flashes={
        "none-chosen": FlashText(one="Nothing was done: choose some of them, then what to do.")
    }
)
BULK_ACTIONS: Mapping[str, tuple[Callable[[Visitor, str], ActionResult], str]] = {
    "forget": (forget_memory, "forgotten"),
    "restore": (restore_memory, "restored"),
    "pin": (pin_memory, "pinned"),
    "unpin": (unpin_memory, "unpinned"),
}
_PERSON_ACTIONS = ("pin", "unpin")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedMemory:
    """One that nothing was done to. None: it is not there any more."""

    memory: Memory | None
    why: str


@bulk_pages.post("/chosen", who=PageAccess.BOTH)
def post_bulk_action(asked: PageRequest) -> Response:
    ids, back = _selected_ids(asked), requests.url_with_search(asked, "/")
    wanted = asked.form.line("act") or ""
    if not ids or wanted == "nothing":
        return asked.redirect(back, said="none-chosen")
    if wanted == "erase":
        return show_bulk_erase_form(asked)
    if wanted == "visibility":
        to = asked.form.choice("to", Visibility)
        if to is None:
            raise InvalidInput("to", "choose who may hear them")
        raised = [] if asked.form.line("sure") == to else _list_raised(asked, to)
        if raised:
            return show_bulk_raise_form(asked, to, raised)
        return _apply_bulk_action(asked, lambda v, id: change_visibility(v, id, to), "visibility")
    if wanted not in BULK_ACTIONS or (asked.visitor.is_operator and wanted in _PERSON_ACTIONS):
        raise NotFound("page")
    return _apply_bulk_action(asked, *BULK_ACTIONS[wanted])


def show_bulk_erase_form(asked: PageRequest) -> Response:
    """On a page of its own, which shows what would go; nothing is done yet."""
    memories, refused = _apply_to_selected(asked, lambda id: get_managed_memory(asked.visitor, id))
    return asked.render(
        "chosen_erase.html",
        memories=memories,
        refused=refused,
        word=ERASE_WORD,
        action=requests.url_with_search(asked, "/chosen/erase"),
        back=requests.url_with_search(asked, "/"),
    )


def show_bulk_raise_form(asked: PageRequest, to: Visibility, raised: list[Memory]) -> Response:
    """On a page of its own, which shows who could hear them then; nothing is done yet."""
    memories, refused = _apply_to_selected(asked, lambda id: get_managed_memory(asked.visitor, id))
    words, names = asked.visitor.api, labels.labels_for(asked.visitor)
    looked_at = raised[:BULK_PREVIEW_MAX_COUNT]
    return asked.render(
        "chosen_raise.html",
        memories=memories,
        refused=refused,
        raised=raised,
        gained=audience.count_gains(
            audience.compare_audiences(
                words.audience.of(one.id), words.audience.of(one.id, visibility=to), names
            )
            for one in looked_at
        ),
        looked_at=len(looked_at),
        to=to,
        action=requests.url_with_search(asked, "/chosen"),
        back=requests.url_with_search(asked, "/"),
    )


def _list_raised(asked: PageRequest, to: Visibility) -> list[Memory]:
    """Those that more would hear. An operator raises nothing, and is told so for each."""
    if asked.visitor.is_operator:
        return []
    memories, _ = _apply_to_selected(asked, lambda id: get_managed_memory(asked.visitor, id))
    return [one for one in memories if one.visibility.rank < to.rank]


@bulk_pages.post("/chosen/erase", who=PageAccess.BOTH, again=show_bulk_erase_form)
def post_bulk_erase(asked: PageRequest) -> Response:
    check_erase_word(asked)
    erased, refused = _apply_to_selected(asked, lambda id: erase_memory(asked.visitor, id))
    back = requests.url_with_search(asked, "/")
    return asked.render("erased.html", erased=erased, refused=refused, back=back)


def _apply_bulk_action(
    asked: PageRequest, act: Callable[[Visitor, str], ActionResult], said: str
) -> Response:
    done, refused = _apply_to_selected(asked, lambda id: act(asked.visitor, id))
    changed = [one for one in done if one.changed]
    marks = [mark for one in changed for mark in one.undo_tokens]
    back = requests.url_with_search(asked, "/")
    if refused:
        note = FlashMessage(key=said, ids=tuple(marks), count=len(changed))
        did = asked.site.show_flash(note) if changed else None
        return asked.render(
            "chosen_refused.html",
            did=did,
            done=len(changed),
            already=len(done) - len(changed),
            refused=refused,
            back=back,
        )
    word = said if changed else "unchanged"
    return asked.redirect(back, said=word, ids=marks, count=len(changed))


def _apply_to_selected(
    asked: PageRequest, act: Callable[[str], T]
) -> tuple[list[T], list[RefusedMemory]]:
    done: list[T] = []
    refused: list[RefusedMemory] = []
    for id in _selected_ids(asked):
        try:
            done.append(act(id))
        except NotFound:
            refused.append(RefusedMemory(memory=None, why="it is not there any more"))
        except (Conflict, InvalidInput) as why:
            says = why.problem if isinstance(why, InvalidInput) else str(why)
            refused.append(RefusedMemory(memory=get_managed_memory(asked.visitor, id), why=says))
    return done, refused


def _selected_ids(asked: PageRequest) -> tuple[str, ...]:
    ids = asked.form.many("id")
    if len(ids) > BULK_SELECTION_MAX_COUNT:
        raise InvalidInput("id", f"choose at most {BULK_SELECTION_MAX_COUNT} at once")
    return ids


# Taking back what was just done, and no more than that: what was changed again since stays.

undo_pages = PageGroup(
    flashes={
        "undone": FlashText(one="It is as it was before.", many="{count} are as they were before."),
        "undone-in-part": FlashText(
            one="One is as it was before. The others were changed since, and stay as they are.",
            many="{count} are as they were before. The others were changed since, and stay.",
        ),
        "undone-here": FlashText(
            one="The earlier wording is back, as said here in private. What was said in the room "
            "stays replaced."
        ),
        "not-undone": FlashText(
            one="It was changed since, and stays as it is. Nothing was undone."
        ),
    }
)


@undo_pages.post("/undo/{what}", who=PageAccess.BOTH)
def post_undo(asked: PageRequest, what: str) -> Response:
    marks = asked.form.many("id")
    if what not in UNDO_HANDLERS or not marks:
        raise NotFound("page")
    if len(marks) > BULK_SELECTION_MAX_COUNT:
        raise InvalidInput("id", f"choose at most {BULK_SELECTION_MAX_COUNT} at once")
    # A wording that took the place of an older memory is marked by both.
    groups = [marks] if what == "reworded" else [(one,) for one in marks]
    undone = 0
    for some in groups:
        try:
            UNDO_HANDLERS[what](asked.visitor, *some)
            undone += 1
        except (NotFound, Conflict, InvalidInput):
            continue
    if undone and what == "reworded" and len(marks) > 1:
        return asked.redirect(f"/memories/{split_undo_token(marks[0], 2)[0]}", said="undone-here")
    return _redirect_after_undo(asked, marks[0].partition("-")[0], undone, len(groups))


def _redirect_after_undo(asked: PageRequest, first: str, undone: int, count: int) -> Response:
    said = "undone" if undone == count else "undone-in-part" if undone else "not-undone"
    return asked.redirect(f"/memories/{first}" if count == 1 else "/", said=said, count=undone)


def _undo_forget(visitor: Visitor, id: str) -> None:
    _require_unchanged(get_managed_memory(visitor, id).state is State.FORGOTTEN)
    restore_memory(visitor, id)


def _undo_restore(visitor: Visitor, id: str) -> None:
    _require_unchanged(get_managed_memory(visitor, id).state is State.ACTIVE)
    forget_memory(visitor, id)


def _undo_pin(visitor: Visitor, id: str) -> None:
    unpin_memory(visitor, id)


def _undo_unpin(visitor: Visitor, id: str) -> None:
    pin_memory(visitor, id)


def _undo_visibility(visitor: Visitor, marked: str) -> None:
    id, before, since = split_undo_token(marked, 3)
    _require_unchanged(get_managed_memory(visitor, id).visibility == since)
    _require_unchanged(before in {one.value for one in Visibility})
    change_visibility(visitor, id, Visibility(before))


def _undo_edit(visitor: Visitor, marked: str, replaced: str | None = None) -> None:
    id, version = split_undo_token(marked, 2)
    memory = get_managed_memory(visitor, id)
    _require_unchanged(memory.state is State.ACTIVE and str(memory.version) == version)
    earlier = (
        _previous_content(visitor, memory)
        if replaced is None
        else _replaced_content(visitor, id, replaced)
    )
    update_content(visitor, id, earlier, memory.version)


def _previous_content(visitor: Visitor, memory: Memory) -> str:
    """The wording before this one."""
    for entry in reversed(visitor.api.history(memory.id)):
        if entry.version < memory.version and entry.content:
            return entry.content
    raise NotFound


def _replaced_content(visitor: Visitor, id: str, replaced: str) -> str:
    """The wording of the memory whose place it took."""
    old = get_managed_memory(visitor, replaced)
    _require_unchanged(old.superseded_by == id)
    return old.content


def _require_unchanged(left: bool) -> None:
    if not left:
        raise Conflict("it was changed since")


UNDO_HANDLERS: Mapping[str, Callable[..., None]] = {
    "forgotten": _undo_forget,
    "restored": _undo_restore,
    "pinned": _undo_pin,
    "unpinned": _undo_unpin,
    "visibility": _undo_visibility,
    "reworded": _undo_edit,
}
