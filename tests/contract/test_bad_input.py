"""Bad input gets a typed error or is stored as the text it is: no traceback, no leak."""

import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import limits
from tacit.memory import Memory
from tests.contract.hostile import (
    BROKEN,
    EMPTY,
    INVISIBLE,
    JOINER,
    NO_CHAT,
    NO_CURSOR,
    NO_FIELD,
    NO_KEY,
    ODD,
    ZERO_WIDTH,
)
from tests.contract.rooms import ALICE, BOB, group, kept, private, said


def refused(match: str, values: Iterable[Any], *acts: Callable[[Any], object]) -> None:
    """Every act answers every value with InvalidInput, which names the part that was wrong."""
    for value in values:
        for number, act in enumerate(acts):
            told = refusal(act, value)
            assert told is not None, f"act {number} took {value!r:.80}"
            assert re.search(match, told), (number, value, told)


def refusal(act: Callable[[Any], object], value: object) -> str | None:
    try:
        act(value)
    except tacit.InvalidInput as error:
        return str(error)
    return None


def test_content_that_says_nothing_or_cannot_be_kept_is_refused(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    bad = [*EMPTY, *BROKEN, "a\x07b", "x" * 1_000_000, 5, b"x", []]
    refused(
        "content",
        bad,
        lambda content: view.remember(content),
        lambda content: view.put("profile", "k", content),
        lambda content: view.update(id, content),
        lambda content: memory.operator("root").update(id, content),
    )
    refused("content", [None], lambda content: view.remember(content))
    assert said(view.list()) == ["one"]
    assert view.show(id).version == 1


def test_whatever_people_write_is_kept_letter_by_letter(memory: Memory) -> None:
    view = private(memory, ALICE)
    for content in (*ODD, "x" * limits.CONTENT_MAX_CHARS):
        id = kept(view, content, tags=["'; --", "100%"])
        view.update(id, "other")
        view.update(id, content)
        assert view.show(id).content == content
        assert [e.content for e in view.history(id)] == [content, "other", content]
        assert view.show(id).tags == ("'; --", "100%")


def test_no_query_is_an_operator_or_an_error(memory: Memory) -> None:
    private(memory, BOB).remember("alice has an owner AND a NEAR friend b c x content")
    view = private(memory, ALICE)
    # On a day whose number is in none of the queries: a day is a word of what was said on it.
    view.remember("plain words", observed_at=datetime(2026, 3, 17, tzinfo=UTC))
    for query in (*ODD, *EMPTY, "*", "()", "_", "é" * 1_500, "a" * 2_000, "ﷺ" * 300):
        assert view.recall(query) == [], query
    refused("query", [*BROKEN, "x" * 200_001, None, 5, b"x"], view.recall)


def test_a_column_name_in_a_query_is_a_word_like_any_other(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("the owner is alice")
    assert [one.memory.content for one in view.recall('owner:alice* NEAR("the')] == ["the owner is alice"]


def test_keys_are_made_of_what_can_be_seen(memory: Memory) -> None:
    view = private(memory, ALICE)
    refused(
        "key",
        [*EMPTY, *BROKEN, *INVISIBLE, " a", "a ", "k" * 201, 5, b"k", ["k"]],
        lambda key: view.put("profile", key, "v"),
        lambda key: view.remember("v", key=key),
        lambda key: view.get("profile", key),
        lambda key: view.forget_key("profile", key),
    )
    assert memory.admin.stats().memories == 0


def test_categories_are_known_ones(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")

    def refile(category: Any) -> object:
        fields: dict[str, Any] = {"category": category}
        return view.update(id, **fields)

    refused(
        "category",
        ["nonsense", "Profile", "", f"pro{ZERO_WIDTH}file", "'; --", 5, b"fact", ["fact"]],
        lambda category: view.remember("v", category=category),
        lambda category: view.put(category, "k", "v"),
        lambda category: view.get(category, "k"),
        lambda category: view.list(category),
        lambda category: view.forget_key(category, "k"),
        lambda category: view.forget_category(category),
        refile,
    )
    assert said(view.list()) == ["one"]


def test_no_category_at_all_is_not_every_category(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.put("profile", "k", "v")
    nothing: Any = None
    for act in (
        lambda: view.forget_category(nothing),
        lambda: view.forget_key(nothing, "k"),
        lambda: view.forget_key("profile", nothing),
        lambda: view.get(nothing, "k"),
        lambda: view.get("profile", nothing),
        lambda: view.put(nothing, nothing, "v"),
    ):
        with pytest.raises(tacit.InvalidInput):
            act()
    assert said(view.list()) == ["v"]


def test_chat_ids_are_what_a_channel_writes(memory: Memory) -> None:
    refused(
        "chat",
        NO_CHAT,
        lambda chat: memory.view(ALICE, tacit.Chat.private(chat)),
        lambda chat: memory.view(ALICE, tacit.Chat.group(chat)),
        lambda chat: memory.view(ALICE, tacit.Chat.unknown(chat)),
        lambda chat: memory.chats.set_confidential(chat),
        lambda chat: memory.chats.join(chat, ALICE.key),
        lambda chat: memory.chats.leave(chat, ALICE.key),
        lambda chat: memory.chats.migrate("telegram:-1", chat),
        lambda chat: memory.chats.migrate(chat, "telegram:-1"),
    )
    assert memory.spaces() == []


def test_external_keys_are_what_a_channel_writes(memory: Memory) -> None:
    refused(
        "",
        NO_KEY,
        lambda key: memory.view(tacit.Requester(key), tacit.Chat.private("web:1")),
        lambda key: memory.view(ALICE, tacit.Chat.group("telegram:-1", participants=[key])),
        lambda key: memory.admin.link(key, "acct:a"),
        lambda key: memory.admin.link("telegram:1", key),
        lambda key: memory.admin.unlink(key),
        lambda key: memory.admin.verify_link(key),
        lambda key: memory.chats.join("telegram:-1", key),
        lambda key: memory.admin.erase_person(key),
        lambda key: memory.admin.forget_person(key),
    )
    assert memory.spaces() == []


def test_people_are_named_by_what_can_be_seen(memory: Memory) -> None:
    view = private(memory, ALICE)
    refused(
        "",
        [*EMPTY, *BROKEN, *INVISIBLE, "n" * 201, 5, None, b"x", ["x"]],
        lambda name: view.remember("x", about=[name]),
        lambda name: view.remember("x", withheld_from=[name]),
        lambda name: view.people.about(name),
        lambda name: view.people.name(name, "Al"),
        lambda name: view.people.name("Sarah", name),
    )
    assert memory.admin.stats().memories == 0
    assert "Sarah" not in repr(view.people.list())


def test_what_a_channel_calls_somebody_never_locks_them_out(memory: Memory) -> None:
    heart = f"Ann ❤\N{VARIATION SELECTOR-16}{JOINER}🔥 "
    wide = "".join(chr(0x3300 + n % 88) for n in range(0, 400, 7)) * 4
    for name in (*EMPTY, *BROKEN, *INVISIBLE, "n" * 500, heart, "ﷺ" * 200, wide, 5):
        odd = tacit.Requester("telegram:7", name=name, username=name)  # type: ignore[arg-type]
        view = memory.view(odd, tacit.Chat.private("telegram:7"))
        view.put("profile", "k", "one")
        assert said(view.list()) == ["one"]
    assert memory.admin.maintain().healthy


def test_a_bad_field_is_named_and_nothing_is_written(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    before = view.show(id)
    for field, values in NO_FIELD.items():
        refused(
            f"{field}|update",
            [{field: value} for value in values],
            lambda bad: view.remember("two", **bad),
            lambda bad: view.put("profile", "k", "v", **bad),
            lambda bad: view.update(id, "three", **bad),
        )
    assert view.show(id) == before
    assert view.stats().memories == 1
    assert len(view.people.list()) == 1


def test_a_hostile_cursor_is_refused(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("one")
    refused(
        "cursor",
        NO_CURSOR,
        lambda cursor: view.list(cursor=cursor),
        lambda cursor: view.people.about(ALICE.key, cursor=cursor),
    )


def test_somebody_elses_cursor_shows_nothing_of_theirs(memory: Memory) -> None:
    own = private(memory, ALICE)
    for number in range(4):
        own.remember(f"secret {number}")
    cursor = own.list(limit=2).cursor
    assert cursor is not None
    private(memory, BOB).remember("Bob's")
    assert set(said(private(memory, BOB).list(cursor=cursor))) <= {"Bob's"}
    assert said(group(memory, BOB).list(cursor=cursor)) == []


def test_numbers_and_flags_are_what_they_are_called(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    refused(
        "limit",
        [0, -1, 501, True, 1.0, "5", None, 10**30, math.nan],
        lambda limit: view.list(limit=limit),
        lambda limit: view.people.about(ALICE.key, limit=limit),
    )
    refused("top_k", [0, -1, 501, True, 1.0, "5", None, 10**30], lambda k: view.recall("x", top_k=k))
    refused("since", [-1, 1.5, "0", None, True, 2**63, math.nan], view.delta)
    refused("prefix", [0, 5, [], {}, b"x", False, "a\x00", "\ud800", "k" * 201],
            lambda prefix: view.list("profile", prefix=prefix))  # fmt: skip
    refused("pin", [None, 1, "yes"], lambda on: view.pin(id, on))
    refused("pinned", [1, "yes"], lambda pinned: view.list(pinned=pinned))
    refused("version", ["1", 1.0, True, math.nan, [], b"1"],
            lambda version: view.update(id, "two", if_version=version))  # fmt: skip
    assert view.show(id).content == "one"


def test_times_at_the_ends_of_the_calendar_are_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
        id = kept(view, "one", observed_at=moment)
        assert view.show(id).observed_at == moment


@pytest.mark.parametrize("url", [5, b"x", ["x"], "mysql://x/y", "http://x", "sqlite:///a?b=c"])
def test_a_database_that_cannot_be_opened_is_a_typed_error(url: Any) -> None:
    with pytest.raises(tacit.TacitError):
        tacit.open(url)


def test_a_file_that_is_no_database_is_a_typed_error(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("just words " * 1_000)
    for place in (file, tmp_path):
        with pytest.raises(tacit.StoreError):
            tacit.open(str(place))
    assert file.read_text().startswith("just words")
