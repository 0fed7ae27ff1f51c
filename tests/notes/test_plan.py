"""The three-way decision about one line and one memory."""

from hypothesis import given
from hypothesis import strategies as st

from tacit.notes.readback import (
    AgreedLine,
    FileLine,
    MemoryStatus,
    ReconciledLine,
    StoredLine,
    UnpairedAction,
    decide_missing_line,
    decide_unpaired_line,
    reconcile_line,
)

WORDINGS = st.sampled_from(["tea", "coffee", "water"])
BOXES = st.sampled_from([True, False])


def line(content: str, done: bool | None = None, *others: str) -> FileLine:
    return FileLine(content=content, digest=f"{content}/{done}", done=done, alternatives=others)


def agreed(content: str, version: int = 1, done: bool | None = None) -> AgreedLine:
    return AgreedLine(digest=f"{content}/{done}", version=version, done=done, content=content)


def test_what_nobody_changed_is_left_alone() -> None:
    found = reconcile_line(line("tea"), agreed("tea"), StoredLine(content="tea", version=1))
    assert found == ReconciledLine(content="tea", done=None)


def test_a_line_that_a_person_changed_goes_to_the_store() -> None:
    found = reconcile_line(line("coffee"), agreed("tea"), StoredLine(content="tea", version=1))
    assert found == ReconciledLine(content="coffee", done=None, changes_store=True)


def test_a_memory_that_changed_goes_to_the_file() -> None:
    found = reconcile_line(line("tea"), agreed("tea"), StoredLine(content="coffee", version=2))
    assert found == ReconciledLine(content="coffee", done=None, changes_file=True)


def test_where_both_changed_the_stores_wording_is_shown_before_the_persons_is_taken() -> None:
    kept = StoredLine(content="water", version=2)
    first = reconcile_line(line("coffee"), agreed("tea"), kept)
    assert first.conflict == "water"
    assert first.content == "coffee"
    then = reconcile_line(line("coffee", None, "water"), agreed("tea"), kept)
    assert then == ReconciledLine(content="coffee", done=None, changes_store=True)


def test_two_who_wrote_the_same_agree() -> None:
    found = reconcile_line(line("coffee"), agreed("tea"), StoredLine(content="coffee", version=2))
    assert found == ReconciledLine(content="coffee", done=None)


def test_a_tick_in_the_file_and_another_wording_in_the_store_are_both_kept() -> None:
    kept = StoredLine(content="coffee", version=2, done=False)
    found = reconcile_line(line("tea", True), agreed("tea", 1, False), kept)
    assert found == ReconciledLine(
        content="coffee", done=True, changes_store=True, changes_file=True
    )


def test_a_person_may_open_a_task_again() -> None:
    kept = StoredLine(content="tea", version=1, done=True)
    found = reconcile_line(line("tea", False), agreed("tea", 1, True), kept)
    assert found == ReconciledLine(content="tea", done=False, changes_store=True)


def test_what_is_done_is_done_where_nobody_knows_how_it_was() -> None:
    kept = StoredLine(content="tea", version=1, done=True)
    assert reconcile_line(line("tea", False), None, kept).done is True
    assert (
        reconcile_line(
            line("tea", True), None, StoredLine(content="tea", version=1, done=False)
        ).done
        is True
    )


def test_however_a_line_is_written_it_stands_for_what_was_agreed() -> None:
    written = FileLine(content="tea ", digest="d")
    kept = StoredLine(content="tea", version=3)
    found = reconcile_line(written, AgreedLine(digest="d", version=3), kept)
    assert found == ReconciledLine(content="tea ", done=None)


def test_two_that_never_agreed_are_both_shown() -> None:
    assert (
        reconcile_line(line("coffee"), None, StoredLine(content="tea", version=1)).conflict == "tea"
    )


def test_a_deleted_line_forgets_its_memory() -> None:
    assert (
        decide_missing_line(agreed("tea"), StoredLine(content="tea", version=1))
        is UnpairedAction.FORGET
    )


def test_a_memory_that_was_never_shown_gets_a_line() -> None:
    assert decide_missing_line(None, StoredLine(content="tea", version=1)) is UnpairedAction.ADD


def test_a_memory_that_changed_since_its_line_was_deleted_comes_back() -> None:
    assert (
        decide_missing_line(agreed("tea"), StoredLine(content="coffee", version=2))
        is UnpairedAction.ADD
    )
    assert (
        decide_missing_line(
            agreed("tea", 1, False), StoredLine(content="tea", version=1, done=True)
        )
        is UnpairedAction.ADD
    )


def test_the_line_of_a_memory_that_was_forgotten_goes() -> None:
    assert (
        decide_unpaired_line(line("tea"), agreed("tea"), MemoryStatus.FORGOTTEN)
        is UnpairedAction.DROP
    )
    assert (
        decide_unpaired_line(line("tea"), agreed("tea"), MemoryStatus.ELSEWHERE)
        is UnpairedAction.DROP
    )


def test_a_line_that_is_written_again_brings_its_memory_back() -> None:
    assert decide_unpaired_line(line("tea"), None, MemoryStatus.FORGOTTEN) is UnpairedAction.RESTORE
    assert (
        decide_unpaired_line(line("coffee"), agreed("tea"), MemoryStatus.FORGOTTEN)
        is UnpairedAction.RESTORE
    )


def test_a_line_that_was_moved_from_another_note_stays() -> None:
    assert decide_unpaired_line(line("tea"), None, MemoryStatus.ELSEWHERE) is UnpairedAction.RESTORE


def test_an_erased_line_goes_whatever_it_says_now() -> None:
    for before in (None, agreed("tea"), agreed("coffee")):
        assert decide_unpaired_line(line("tea"), before, MemoryStatus.ERASED) is UnpairedAction.DROP


def test_a_line_of_another_database_or_another_person_is_remembered() -> None:
    assert decide_unpaired_line(line("tea"), None, MemoryStatus.UNKNOWN) is UnpairedAction.REMEMBER
    assert decide_unpaired_line(line("tea"), None, MemoryStatus.FOREIGN) is UnpairedAction.REMEMBER


@given(WORDINGS, BOXES, WORDINGS, BOXES, WORDINGS, BOXES, st.integers(1, 2))
def test_nothing_that_somebody_wrote_is_lost_and_both_agree_in_the_end(
    said: str, ticked: bool, was: str, box: bool, stored: str, flag: bool, version: int
) -> None:
    """Whoever did not change a thing gives way; where both did, both wordings are there to see."""
    if version == 1:
        stored = was
    before, kept = agreed(was, 1, box), StoredLine(content=stored, version=version, done=flag)
    here = line(said, ticked)
    first = reconcile_line(here, before, kept)
    if first.conflict is not None:
        assert {first.content, first.conflict} == {said, stored}
        assert was not in (said, stored) or version == 2
        here = line(said, ticked, first.conflict)
        first = reconcile_line(here, before, kept)
        assert first.conflict is None
    assert first.content in (said, stored)
    after = StoredLine(
        content=first.content if first.changes_store else stored,
        version=version + (first.changes_store and first.content != stored),
        done=first.done,
    )
    there = line(first.content, first.done) if first.changes_file else here
    assert (there.content, there.done) == (after.content, after.done)
    again = reconcile_line(there, agreed(there.content, after.version, there.done), after)
    assert (again.changes_store, again.changes_file, again.conflict) == (False, False, None)
