"""Merging what a session says with what its note holds, by rules."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.notes.merge import (
    find_title,
    match_items,
    merge_item,
    merge_links,
    normalize_text,
    remove_duplicates,
    says_less,
)
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, NoteLink, Section

WORDS = ["release", "plan", "server", "not", "Bob", "12", "slow", "x.md", "ships"]
LINES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
TITLED = st.tuples(st.sampled_from(["Plan", "plan", "Host", "Topic"]), LINES).map(": ".join)
LINKED = LINES.map(lambda said: f"{said} [doc](a.md)")
CONTENTS = st.lists(LINES | TITLED | LINKED, min_size=1, max_size=3).map("\n".join)


@st.composite
def items(draw: st.DrawFn, *, known: bool) -> list[NoteItem]:
    """Of a note, with ids, or of a draft, without."""
    found = []
    for n in range(draw(st.integers(0, 6))):
        section = draw(st.sampled_from([Section.FACTS, Section.TASKS, Section.SUMMARY]))
        done = draw(st.booleans()) if section in CHECKBOX_SECTIONS else None
        id = f"id{n:06}" if known else None
        found.append(NoteItem(section=section, content=draw(CONTENTS), id=id, done=done))
    return found


def fact(content: str, **further: object) -> NoteItem:
    return replace(NoteItem(section=Section.FACTS, content=content), **further)  # type: ignore[arg-type]


def task(content: str, done: bool = False, **further: object) -> NoteItem:
    made = NoteItem(section=Section.TASKS, content=content, done=done)
    return replace(made, **further)  # type: ignore[arg-type]


def continued(old: NoteItem, new: NoteItem) -> bool:
    return match_items([old], [new]) == [(new, old)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Host: runs on rivendell", "host:  moved to lorien"),
        ("Falcon ships in May.", "falcon ships in  May"),
        ("See [the plan](2026-02-04/a.md) first", "The plan has changed: [new](2026-02-04/a.md)"),
        ("Tracked at https://example.org/17", "Closed, see https://example.org/17 for why"),
        ("Uploads are slow for everybody", "Uploads are very slow for everybody"),
        ("Example:\nURL: a", "example:\nURL: b"),
    ],
)
def test_a_title_a_text_a_link_or_likeness_tells_what_is_continued(old: str, new: str) -> None:
    assert continued(fact(old), fact(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Host: rivendell", "Port: rivendell"),
        ("Uploads are slow", "Downloads are broken"),
        ("See [one](a.md)", "See [other](b.md)"),
        ("at 12:30 the bus leaves", "at 12:45 the train leaves"),
        ("The build takes 12 minutes", "The build takes 14 minutes"),
    ],
)
def test_what_is_about_something_else_stands_beside(old: str, new: str) -> None:
    assert not continued(fact(old), fact(new))


def test_nothing_is_merged_across_sections() -> None:
    new = task("Falcon ships in May")
    assert match_items([fact("Falcon ships in May")], [new]) == [(new, None)]


def test_topics_are_told_apart_by_what_follows_the_label() -> None:
    old = NoteItem(section=Section.SUMMARY, content="Topic: the release\nEvent: it was planned")
    other = replace(old, content="Topic: the holidays\nEvent: they were planned")
    again = replace(old, content="Topic: The release\nResult: it ships in May")
    assert match_items([old], [other, again]) == [(other, None), (again, old)]
    assert merge_item(old, again).content == (
        "Topic: The release\nEvent: it was planned\nResult: it ships in May"
    )


def test_tasks_are_matched_by_their_text_alone() -> None:
    assert continued(task("Call the plumber"), task("call  the plumber.", done=True))
    assert not continued(task("Bob: send the contract"), task("Bob: pay the rent"))
    assert not continued(
        task("Review https://example.org/17"), task("Merge https://example.org/17")
    )


def test_a_part_that_is_done_does_not_finish_the_whole() -> None:
    assert not continued(task("Buy bread, milk and eggs"), task("Buy bread and milk", done=True))


def test_a_sure_reason_goes_before_a_vague_one() -> None:
    vague, sure = (
        fact("Uploads are very slow for everybody"),
        fact("Uploads are slow for everybody"),
    )
    old = fact("uploads are slow for everybody")
    assert match_items([old], [vague, sure]) == [(vague, None), (sure, old)]


def test_an_id_goes_before_everything() -> None:
    old = [fact("Host: a", id="aaaaaaaa"), fact("Port: b", id="bbbbbbbb")]
    new = fact("Host: c", id="bbbbbbbb")
    assert match_items(old, [new]) == [(new, old[1])]


def test_of_two_wordings_in_conflict_a_person_chooses() -> None:
    old = fact("Host: a", conflict=True)
    assert not continued(old, fact("Host: b"))
    assert continued(old, fact("Host: a"))


def test_the_new_wording_wins_and_the_old_id_and_day_stay() -> None:
    old = fact("Host: a", id="aaaaaaaa", added=date(2026, 2, 5))
    found = merge_item(old, fact("Host: b", added=date(2026, 3, 1)))
    assert found == fact("Host: b", id="aaaaaaaa", added=date(2026, 2, 5))


def test_a_line_with_a_label_takes_the_place_of_its_own_and_no_other_goes() -> None:
    old = fact("Site:\nURL: a\nseen on Monday\nPort: 1")
    found = merge_item(old, fact("Site:\nport: 2\nOwner: Bob"))
    assert found.content == "Site:\nURL: a\nseen on Monday\nport: 2\nOwner: Bob"


def test_what_is_only_alike_and_says_less_takes_no_words_away() -> None:
    old = fact("Uploads are slow for the whole office in Oslo")
    assert merge_item(old, fact("Uploads are slow for the office in Oslo")) == old


@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True), (True, True)])
def test_a_finished_task_never_reopens(before: bool, after: bool) -> None:
    assert merge_item(task("Pay", before), task("Pay", after)).done is True


def test_links_are_kept_once_by_their_target_under_the_newest_text() -> None:
    old = [NoteLink(text="Plan", target="a.md"), NoteLink(text="Other", target="b.md")]
    new = [NoteLink(text="New plan", target="a.md "), NoteLink(text="", target="b.md")]
    assert merge_links(old, [*new, NoteLink(text="gone", target=" ")]) == (
        NoteLink(text="New plan", target="a.md"),
        NoteLink(text="Other", target="b.md"),
    )


def test_what_is_said_twice_in_one_draft_is_kept_once_and_done_if_either_is() -> None:
    assert remove_duplicates([task("Pay"), fact("Pay"), task("pay.", done=True)]) == (
        task("pay.", done=True),
        fact("Pay"),
    )


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("Host: a", "Host"),
        ("Example:\nmore", "Example"),
        ("http://a.b", None),
        ("at 12:30", None),
        ("It is so. And: more", None),
        (f"{'long ' * 20}: a", None),
        (": a", None),
        ("no title\nHost: a", None),
    ],
)
def test_a_title_is_short_and_stands_before_a_colon(content: str, title: str | None) -> None:
    assert find_title(content) == title


def lines(content: str) -> Counter[str]:
    return Counter(map(normalize_text, content.split("\n")))


def replaceable(old: NoteItem, new: NoteItem) -> list[str]:
    """The further lines of the old item for which the new one has a line with the same label."""
    labels = {
        normalize_text(title) for line in new.content.split("\n")[1:] if (title := find_title(line))
    }
    further = old.content.split("\n")[1:]
    return [
        normalize_text(line)
        for line in further
        if normalize_text(find_title(line) or "-") in labels
    ]


def merge_items(old: Sequence[NoteItem], new: Sequence[NoteItem]) -> tuple[NoteItem, ...]:
    """Return the items of a note after a session: old ones in their order, then new ones."""
    pairs = match_items(old, remove_duplicates(new))
    newer = {id(before): item for item, before in pairs if before is not None}
    kept = [merge_item(one, newer[id(one)]) if id(one) in newer else one for one in old]
    return (*kept, *(item for item, before in pairs if before is None))


@given(items(known=True), items(known=False))
def test_no_old_item_goes_and_none_is_taken_twice(old: list[NoteItem], new: list[NoteItem]) -> None:
    pairs = match_items(old, new)
    assert [item for item, _ in pairs] == new
    taken = [before.id for _, before in pairs if before is not None]
    assert len(taken) == len(set(taken))
    assert all(b is None or b.section is item.section for item, b in pairs)
    found = merge_items(old, new)
    assert [one.id for one in found[: len(old)]] == [one.id for one in old]
    assert [one.section for one in found[: len(old)]] == [one.section for one in old]


@given(items(known=True), items(known=False))
def test_nothing_is_dropped_that_a_diff_of_lines_can_see(
    old: list[NoteItem], new: list[NoteItem]
) -> None:
    """Every line of both is there, but for an old one whose place a new one with its label takes,
    and of two first lines the one that says less or is older."""
    drafted = remove_duplicates(new)
    pairs = match_items(old, drafted)
    found = merge_items(old, drafted)
    assert [item for item, before in pairs if before is None] == list(found[len(old) :])
    for before, after in zip(old, found, strict=False):
        newer = [item for item, one in pairs if one is before]
        if not newer:
            assert after == before
            continue
        heads = [one.content.split("\n")[0] for one in (newer[0], before, after)]
        assert heads[2] == heads[0] or (heads[2] == heads[1] and says_less(heads[0], heads[1]))
        gone = lines(before.content) - lines(after.content)
        assert gone <= Counter([normalize_text(heads[1]), *replaceable(before, newer[0])])
        assert lines(newer[0].content) - lines(after.content) <= Counter([normalize_text(heads[0])])


@given(items(known=True), items(known=False))
def test_merging_twice_changes_nothing(old: list[NoteItem], new: list[NoteItem]) -> None:
    once = merge_items(old, new)
    assert merge_items(once, new) == once


@given(items(known=True), items(known=False))
def test_no_finished_task_reopens_by_any_merge(old: list[NoteItem], new: list[NoteItem]) -> None:
    found = {one.id or "": one for one in merge_items(old, new) if one.id}
    assert all(found[one.id or ""].done for one in old if one.done)
    assert all(
        (one.done is None) == (one.section not in CHECKBOX_SECTIONS) for one in found.values()
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_merged(one: str, other: str) -> None:
    found = merge_items([fact(one, id="aaaaaaaa")], [fact(other)])
    assert 1 <= len(found) <= 2
