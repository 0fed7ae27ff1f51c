"""List, show, change, undo and erase memories, one or several at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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

pages = PageGroup(
    flashes={
        "none-chosen": FlashText("Select memories first, then an action."),
        "forgotten": FlashText("Forgotten.", many="{count} forgotten.", undo="/undo/forgotten"),
        "restored": FlashText("Restored.", many="{count} restored.", undo="/undo/restored"),
        "pinned": FlashText("Pinned.", many="{count} pinned.", undo="/undo/pinned"),
        "unpinned": FlashText("Unpinned.", many="{count} unpinned.", undo="/undo/unpinned"),
        "unchanged": FlashText("Nothing to change."),
        "reworded": FlashText("Saved.", undo="/undo/reworded"),
        "undone": FlashText("Undone.", many="Undone for {count}."),
        "undone-in-part": FlashText(
            "Undone for one. The others were changed since.", many="Undone for {count}. The others were changed since."
        ),
        "undone-here": FlashText(
            "The earlier text is back as a private memory. The memory of the group stays replaced."
        ),
        "not-undone": FlashText("Not undone: it was changed since."),
    }
)

# Actions on memories. Each returns an undo token: the id with the state before or after the
# action, so that undo does nothing if the memory was changed again since.

_TOKEN_SEPARATOR = "-"
_FORGOTTEN_STATES = (State.FORGOTTEN, State.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    id: str  # of the memory after the action
    changed: bool = True  # False: there was nothing to change
    undo_tokens: tuple[str, ...] = ()  # empty: it cannot be undone


def get_managed_memory(visitor: Visitor, id: str) -> Memory:
    """Return a memory that the visitor may manage: their own, or for an operator any.

    Raises NotFound for other memories, also for those the visitor may see.
    """
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
        raise Conflict("it is waiting for approval: decline it on the review page")
    visitor.api.forget(id)
    return _action_result(id, memory.state not in _FORGOTTEN_STATES)


def restore_memory(visitor: Visitor, id: str) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    visitor.api.restore(id)
    if memory.state is State.EXPIRED:
        return ActionResult(id=id)  # no undo: forgetting would not make it expired again
    return _action_result(id, memory.state is State.FORGOTTEN)


def set_pinned(visitor: Visitor, id: str, *, on: bool) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    visitor.view.pin(id, on)
    return _action_result(id, memory.pinned is not on)


pin_memory, unpin_memory = partial(set_pinned, on=True), partial(set_pinned, on=False)
# Name: the action, its flash message, and who may do it.
ACTIONS: Mapping[str, tuple[Callable[[Visitor, str], ActionResult], str, PageAccess]] = {
    "forget": (forget_memory, "forgotten", PageAccess.BOTH),
    "restore": (restore_memory, "restored", PageAccess.BOTH),
    "pin": (pin_memory, "pinned", PageAccess.PERSON),
    "unpin": (unpin_memory, "unpinned", PageAccess.PERSON),
}


def change_visibility(visitor: Visitor, id: str, to: Visibility) -> ActionResult:
    memory = get_managed_memory(visitor, id)
    changed = memory.visibility is not to
    if visitor.is_operator:
        visitor.operator.lower_visibility(id, to)
        return ActionResult(id=id, changed=changed)  # no undo: only its owner may raise it
    visitor.view.set_visibility(id, to)
    return _action_result(id, changed, join_undo_token(id, memory.visibility, to))


def update_content(visitor: Visitor, id: str, content: str, version: int) -> ActionResult:
    """Update the text; the undo token has the version, and the replaced memory if there is one."""
    memory = get_managed_memory(visitor, id)
    if visitor.is_operator:
        visitor.operator.update(id, content, if_version=version)
        return ActionResult(id=id, undo_tokens=(join_undo_token(id, str(version + 1)),))
    done = visitor.view.update(id, content, if_version=version)
    replaced = () if done.supersedes is None else (done.supersedes,)
    changed = done.id != id or done.version != memory.version
    return _action_result(done.id, changed, join_undo_token(done.id, str(done.version)), *replaced)


def withhold_memory(visitor: Visitor, id: str, who: str) -> ActionResult:
    """Withhold from one more person. This cannot be undone."""
    get_managed_memory(visitor, id)
    visitor.api.withhold_from(id, [who])
    return ActionResult(id=id)


def erase_memory(visitor: Visitor, id: str, *, turns: bool = False) -> Erased:
    get_managed_memory(visitor, id)
    if visitor.is_operator:
        return visitor.operator.erase(id)
    return visitor.view.erase(id, turns=turns)


def _action_result(id: str, changed: bool, *tokens: str) -> ActionResult:
    return ActionResult(id=id, changed=changed, undo_tokens=(tokens or (id,)) if changed else ())


def join_undo_token(*parts: str) -> str:
    return _TOKEN_SEPARATOR.join(parts)


def split_undo_token(token: str, count: int) -> list[str]:
    parts = token.split(_TOKEN_SEPARATOR)
    if len(parts) != count:
        raise NotFound
    return parts


# The list of memories, newest first, with search and filters.

NO_MEMORIES: Page[Memory] = Page()


@pages.get("/", who=PageAccess.BOTH, nav="Memories")
def show_list(asked: PageRequest) -> Response:
    found, count, most, problem = NO_MEMORIES, 0, limits.BROWSE_COUNT_MAX_COUNT, None
    try:
        search = requests.parse_search(asked)
        api = asked.visitor.api
        cursor = asked.query.line("cursor")
        found = api.browse(search, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor)
        if search.words is None:
            count = api.browse_count(search)
        else:
            # Count only this page: a full count at each keystroke costs more than the search.
            count = len(found)
            most = count if found.cursor or cursor else most
    except InvalidInput as wrong:
        # While the visitor types this is no error: the next letter may correct it.
        asked = asked if asked.is_fragment else asked.with_error(wrong)
        problem = wrong.problem
    return asked.render(
        "memories.html",
        fragment="memories_found.html",
        found=found,
        count=count,
        most=most,
        problem=problem,
        filtered=requests.count_filters(asked),
        bulk=requests.url_with_search(asked, "/chosen"),
        names=labels.labels_for(asked.visitor),
        **({} if asked.is_fragment else requests.list_filter_choices(asked)),
    )


# One memory: details, history and actions.

RESTORABLE_STATES = (State.FORGOTTEN, State.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    entry: HistoryEntry
    says: str
    pieces: tuple[DiffPiece, ...]  # the change of the text; empty if there is none


@pages.get("/memories/{id}", who=PageAccess.BOTH)
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
    """Return the memory that replaces this one, if the visitor may manage it too."""
    try:
        return get_managed_memory(asked.visitor, memory.superseded_by or "")
    except NotFound:
        return None


def _history_lines(history: list[HistoryEntry], earlier: int) -> tuple[list[HistoryLine], int | None]:
    """Return one page of history, newest first, and the offset of the next page."""
    end = len(history) - earlier
    start = max(0, end - TIMELINE_SHOWN_COUNT)
    before = [None, *history][start:end]
    shown = [_history_line(one, prior) for prior, one in zip(before, history[start:end], strict=True)]
    return shown[::-1], earlier + len(shown) if start > 0 else None


def _history_line(entry: HistoryEntry, prior: HistoryEntry | None) -> HistoryLine:
    now, then = entry.content or "", "" if prior is None else prior.content or ""
    pieces: tuple[DiffPiece, ...] = ()
    if prior is None:
        pieces = (DiffPiece(now),) if now else ()
    elif now != then:
        pieces = diff.diff_words(then, now)
    return HistoryLine(entry=entry, says=labels.describe_history_entry(entry), pieces=pieces)


def redirect_to_memory(asked: PageRequest, result: ActionResult, flash: str) -> Response:
    """Redirect to the memory, which shows the flash message and an undo button."""
    flash = flash if result.changed else "unchanged"
    return asked.redirect(f"/memories/{result.id}", flash=flash, ids=result.undo_tokens, count=1)


def _add_action(name: str, act: Callable[[Visitor, str], ActionResult], flash: str) -> None:
    @pages.post(f"/memories/{{id}}/{name}", who=ACTIONS[name][2], again=show_memory)
    def post_action(asked: PageRequest, id: str) -> Response:
        return redirect_to_memory(asked, act(asked.visitor, id), flash)


for _name, (_act, _flash, _) in ACTIONS.items():
    _add_action(_name, _act, _flash)


# Editing. If the memory was changed since the form was loaded, both texts are shown.

_VERSION_MAX = 2**31


@pages.get("/memories/{id}/edit", who=PageAccess.BOTH)
def show_edit_form(asked: PageRequest, id: str) -> Response:
    memory = get_managed_memory(asked.visitor, id)
    written = asked.form.text("content") if asked.wrong else memory.content
    overtaken = isinstance(asked.wrong, Conflict) and memory.state is State.ACTIVE
    return asked.render_form(
        "memory_edit.html",
        "Edit a memory",
        memory=memory,
        written=written,
        most_chars=limits.CONTENT_MAX_CHARS,
        leaves_room=memory.learned_kind is ChatKind.GROUP and not asked.visitor.is_operator,
        overtaken=diff.diff_words(memory.content, written) if overtaken else None,
    )


@pages.post("/memories/{id}/edit", who=PageAccess.BOTH, again=show_edit_form)
def post_edit(asked: PageRequest, id: str) -> Response:
    version = asked.form.integer("version", 1, 1, _VERSION_MAX)
    content = asked.form.text("content")
    return redirect_to_memory(asked, update_content(asked.visitor, id, content, version), "reworded")


# Erasing, confirmed by a typed word and answered with a certificate.

ERASE_WORD = "erase"


@pages.get("/memories/{id}/erase", who=PageAccess.BOTH)
def show_erase_form(asked: PageRequest, id: str) -> Response:
    return asked.render_form(
        "memory_erase.html", "Erase a memory", memory=get_managed_memory(asked.visitor, id), word=ERASE_WORD
    )


@pages.post("/memories/{id}/erase", who=PageAccess.BOTH, again=show_erase_form)
def post_erase(asked: PageRequest, id: str) -> Response:
    """Answer with the certificate, without a redirect: it is not stored."""
    check_erase_word(asked)
    erased = erase_memory(asked.visitor, id, turns=asked.form.flag("turns"))
    return asked.render("erased.html", erased=[erased], refused=[], back="/")


def check_erase_word(asked: PageRequest) -> None:
    if (asked.form.line("word") or "").casefold() != ERASE_WORD:
        raise InvalidInput("word", f"type the word {ERASE_WORD} to confirm")


# Bulk actions. Each memory succeeds or is refused by itself; the result lists refusals.

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedMemory:
    memory: Memory | None  # None: it no longer exists
    why: str


@pages.post("/chosen", who=PageAccess.BOTH)
def post_bulk_action(asked: PageRequest) -> Response:
    ids, back = _selected_ids(asked), requests.url_with_search(asked, "/")
    wanted = asked.form.line("act") or ""
    if not ids or wanted == "nothing":
        return asked.redirect(back, flash="none-chosen")
    if wanted == "erase":
        return show_bulk_erase_form(asked)
    if wanted == "visibility":
        to = asked.form.choice("to", Visibility)
        if to is None:
            raise InvalidInput("to", "choose a visibility")
        raised = [] if asked.form.line("sure") == to else _list_raised(asked, to)
        if raised:
            return show_bulk_raise_form(asked, to, raised)
        return _apply_bulk_action(asked, partial(change_visibility, to=to), "visibility")
    act, flash, who = ACTIONS.get(wanted, (None, "", PageAccess.BOTH))
    if act is None or not who.allows(asked.visitor):
        raise NotFound("page")
    return _apply_bulk_action(asked, act, flash)


def show_bulk_erase_form(asked: PageRequest) -> Response:
    """Show the memories that would be erased, before anything is done."""
    memories, refused = _apply_to_selected(asked, get_managed_memory)
    return asked.render(
        "bulk_erase.html",
        memories=memories,
        refused=refused,
        word=ERASE_WORD,
        action=requests.url_with_search(asked, "/chosen/erase"),
        back=requests.url_with_search(asked, "/"),
    )


def show_bulk_raise_form(asked: PageRequest, to: Visibility, raised: list[Memory]) -> Response:
    """Show who could newly see the memories, before anything is done."""
    memories, refused = _apply_to_selected(asked, get_managed_memory)
    api, names = asked.visitor.api, labels.labels_for(asked.visitor)
    checked = raised[:BULK_PREVIEW_MAX_COUNT]
    return asked.render(
        "bulk_raise.html",
        memories=memories,
        refused=refused,
        raised=raised,
        gained=audience.count_gains(
            audience.compare_audiences(api.audience.of(one.id), api.audience.of(one.id, visibility=to), names)
            for one in checked
        ),
        checked=len(checked),
        to=to,
        action=requests.url_with_search(asked, "/chosen"),
        back=requests.url_with_search(asked, "/"),
    )


def _list_raised(asked: PageRequest, to: Visibility) -> list[Memory]:
    """Return the memories that more people would see. An operator may raise none."""
    if asked.visitor.is_operator:
        return []
    memories, _ = _apply_to_selected(asked, get_managed_memory)
    return [one for one in memories if one.visibility.rank < to.rank]


@pages.post("/chosen/erase", who=PageAccess.BOTH, again=show_bulk_erase_form)
def post_bulk_erase(asked: PageRequest) -> Response:
    check_erase_word(asked)
    erased, refused = _apply_to_selected(asked, erase_memory)
    back = requests.url_with_search(asked, "/")
    return asked.render("erased.html", erased=erased, refused=refused, back=back)


def _apply_bulk_action(asked: PageRequest, act: Callable[[Visitor, str], ActionResult], flash: str) -> Response:
    done, refused = _apply_to_selected(asked, act)
    changed = [one for one in done if one.changed]
    tokens = [token for one in changed for token in one.undo_tokens]
    back = requests.url_with_search(asked, "/")
    if refused:
        message = FlashMessage(key=flash, ids=tuple(tokens), count=len(changed))
        did = asked.site.show_flash(message) if changed else None
        return asked.render(
            "bulk_result.html", did=did, done=len(changed), already=len(done) - len(changed), refused=refused, back=back
        )
    key = flash if changed else "unchanged"
    return asked.redirect(back, flash=key, ids=tokens, count=len(changed))


def _apply_to_selected(asked: PageRequest, act: Callable[[Visitor, str], T]) -> tuple[list[T], list[RefusedMemory]]:
    done: list[T] = []
    refused: list[RefusedMemory] = []
    for id in _selected_ids(asked):
        try:
            done.append(act(asked.visitor, id))
        except NotFound:
            refused.append(RefusedMemory(memory=None, why="it no longer exists"))
        except (Conflict, InvalidInput) as error:
            why = error.problem if isinstance(error, InvalidInput) else str(error)
            refused.append(RefusedMemory(memory=get_managed_memory(asked.visitor, id), why=why))
    return done, refused


def _selected_ids(asked: PageRequest) -> tuple[str, ...]:
    ids = asked.form.many("id")
    if len(ids) > BULK_SELECTION_MAX_COUNT:
        raise InvalidInput("id", f"select at most {BULK_SELECTION_MAX_COUNT} at once")
    return ids


# Undo of the last action. A memory that was changed again since is left as it is.


@pages.post("/undo/{what}", who=PageAccess.BOTH)
def post_undo(asked: PageRequest, what: str) -> Response:
    tokens = _selected_ids(asked)
    if what not in UNDO_HANDLERS or not tokens:
        raise NotFound("page")
    # An edit that replaced an older memory has two tokens, one for each.
    actions = [tokens] if what == "reworded" else [(one,) for one in tokens]
    undone = 0
    for arguments in actions:
        try:
            UNDO_HANDLERS[what](asked.visitor, *arguments)
            undone += 1
        except (NotFound, Conflict, InvalidInput):
            continue
    first = f"/memories/{tokens[0].partition(_TOKEN_SEPARATOR)[0]}"
    if undone and what == "reworded" and len(tokens) > 1:
        return asked.redirect(first, flash="undone-here")
    key = "undone" if undone == len(actions) else "undone-in-part" if undone else "not-undone"
    return asked.redirect(first if len(actions) == 1 else "/", flash=key, count=undone)


def _undo_forget(visitor: Visitor, id: str) -> None:
    _require_unchanged(get_managed_memory(visitor, id).state is State.FORGOTTEN)
    restore_memory(visitor, id)


def _undo_restore(visitor: Visitor, id: str) -> None:
    _require_unchanged(get_managed_memory(visitor, id).state is State.ACTIVE)
    forget_memory(visitor, id)


def _undo_visibility(visitor: Visitor, token: str) -> None:
    id, before, since = split_undo_token(token, 3)
    _require_unchanged(get_managed_memory(visitor, id).visibility == since)
    _require_unchanged(before in {one.value for one in Visibility})
    change_visibility(visitor, id, Visibility(before))


def _undo_edit(visitor: Visitor, token: str, replaced: str | None = None) -> None:
    id, version = split_undo_token(token, 2)
    memory = get_managed_memory(visitor, id)
    _require_unchanged(memory.state is State.ACTIVE and str(memory.version) == version)
    if replaced is not None:
        old = get_managed_memory(visitor, replaced)
        _require_unchanged(old.superseded_by == id)
        earlier: str | None = old.content
    else:
        versions = reversed(visitor.api.history(id))
        earlier = next((v.content for v in versions if v.version < memory.version and v.content), None)
    if earlier is None:
        raise NotFound
    update_content(visitor, id, earlier, memory.version)


def _require_unchanged(unchanged: bool) -> None:
    if not unchanged:
        raise Conflict("it was changed since")


UNDO_HANDLERS: Mapping[str, Callable[..., object]] = {
    "forgotten": _undo_forget,
    "restored": _undo_restore,
    "pinned": unpin_memory,
    "unpinned": pin_memory,
    "visibility": _undo_visibility,
    "reworded": _undo_edit,
}
