"""The three-way decision about one line and one memory."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tacit.notes.readback import AgreedLine, ReconciledLine, is_line_deleted, reconcile_line
from tacit.records.notes import NoteItem, Section
from tests.corpus import check_corpus

DATA = Path(__file__).parent / "data"
WORDINGS = st.sampled_from(["tea", "coffee", "water"])
BOXES = st.sampled_from([True, False])


def item(content: str, done: bool | None = None) -> NoteItem:
    return NoteItem(section=Section.TASKS, content=content, done=done)


def agreed(content: str, version: int = 1, done: bool | None = None) -> AgreedLine:
    return AgreedLine(digest=f"{content}/{done}", version=version, done=done, content=content)


def reconcile(
    said: NoteItem, before: AgreedLine | None, kept: NoteItem, version: int = 1, *others: str
) -> ReconciledLine:
    return reconcile_line(said, f"{said.content}/{said.done}", kept, version, before, others)


TEA, COFFEE, WATER = item("tea"), item("coffee"), item("water")


def test_the_side_that_changed_prevails() -> None:
    """Columns: the line, what was agreed, the memory and its version; the outcome."""

    def read(text: str) -> NoteItem:
        boxes = {"[ ]": False, "[x]": True}
        return item(text.rsplit(maxsplit=1)[-1], boxes.get(text[:3]))

    def outcome(said: str, before: str, kept: str, version: str) -> list[str]:
        was = read(before)
        found = reconcile(read(said), agreed(was.content, 1, was.done), read(kept), int(version))
        box = {None: "", False: "[ ] ", True: "[x] "}[found.done]
        changes = [name for name in ("store", "file") if getattr(found, f"changes_{name}")]
        assert found.conflict is None
        return [f"{box}{found.content}", " and ".join(changes) or "none"]

    check_corpus(DATA / "reconciled.tsv", 4, outcome)


def test_where_both_changed_the_stores_wording_is_shown_before_the_persons_is_taken() -> None:
    first = reconcile(COFFEE, agreed("tea"), WATER, 2)
    assert (first.conflict, first.content) == ("water", "coffee")
    then = reconcile(COFFEE, agreed("tea"), WATER, 2, "water")
    assert then == ReconciledLine(content="coffee", done=None, changes_store=True)
    assert reconcile(COFFEE, None, TEA).conflict == "tea"  # they never agreed


def test_what_is_done_is_done_where_no_agreement_is_known() -> None:
    for said, kept in ((False, True), (True, False)):
        assert reconcile(item("tea", said), None, item("tea", kept)).done is True


def test_only_a_memory_that_is_as_agreed_counts_as_deleted() -> None:
    assert is_line_deleted(agreed("tea"), 1, None)
    assert not is_line_deleted(None, 1, None)
    assert not is_line_deleted(agreed("tea"), 2, None)
    assert not is_line_deleted(agreed("tea", 1, False), 1, True)


@given(WORDINGS, BOXES, WORDINGS, BOXES, WORDINGS, BOXES, st.integers(1, 2))
def test_nothing_that_a_person_wrote_is_lost_and_both_agree_in_the_end(
    said: str, ticked: bool, was: str, box: bool, stored: str, flag: bool, version: int
) -> None:
    """The side that did not change a thing gives way; where both did, both wordings are shown."""
    if version == 1:
        stored = was
    before, kept, here = agreed(was, 1, box), item(stored, flag), item(said, ticked)
    first = reconcile(here, before, kept, version)
    if first.conflict is not None:
        assert {first.content, first.conflict} == {said, stored}
        assert was not in (said, stored) or version == 2
        first = reconcile(here, before, kept, version, first.conflict)
        assert first.conflict is None
    assert first.content in (said, stored)
    version += first.changes_store and first.content != stored
    after = item(first.content if first.changes_store else stored, first.done)
    there = item(first.content, first.done) if first.changes_file else here
    assert (there.content, there.done) == (after.content, after.done)
    again = reconcile(there, agreed(there.content, version, there.done), after, version)
    assert (again.changes_store, again.changes_file, again.conflict) == (False, False, None)
