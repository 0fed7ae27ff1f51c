"""Any Python value in any argument: a result or a TacitError, and nothing half done."""

import inspect
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.records.memory import ChatKind, Kind, Sensitivity, State, Visibility
from tacit.records.results import Recalled
from tacit.view.context import resource
from tacit.view.view import VIEW_OPERATIONS
from tests.contract.conftest import Open
from tests.contract.embedders import minilm
from tests.contract.hostile import (
    BROKEN,
    EMPTY,
    INVISIBLE,
    JOINER,
    NAIVE,
    NO_CHAT,
    NO_CURSOR,
    NO_FIELD,
    NO_KEY,
    ODD,
    ZERO_WIDTH,
)
from tests.contract.rooms import ALICE, BOB, TEAM, group, kept, private, said

# Close calls are likelier to find something than noise: words of ours in the wrong places.
WORDS = [
    "", "me", "profile", "fact", "k", "telegram:1001", "acct:a", "ext:telegram:1001",
    "person:AAAAAAAA", "AAAAAAAA", TEAM, *Kind, *Visibility, *Sensitivity, *State,
    *ODD, *EMPTY, *BROKEN, *INVISIBLE,
]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, 2**31, 2**63, 10**400, -1]),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(WORDS),
    st.binary(max_size=10),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()),
    st.sampled_from([NAIVE, timedelta(1), Path("x"), ALICE, object, Ellipsis, 1j, range(3)]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=5), inner, max_size=2),
        st.sets(st.integers(), max_size=2),
    ),
    max_leaves=5,
)
FIELDS = [
    "kind", "category", "key", "slot", "about", "withheld_from", "visibility", "sensitivity",
    "portable", "importance", "confidence", "pinned", "tags", "observed_at", "expires_at",
    "message", "agent", "run", "role", "for_room", "data", "trust", "owner",
]  # fmt: skip


def plain(thing: type) -> list[str]:
    methods = inspect.getmembers(thing, inspect.isfunction)
    return sorted(name for name, _ in methods if not name.startswith("_"))


VIEW_METHODS = [name for name in VIEW_OPERATIONS if ".steps." not in name]
# Not what would end the test's own memory, or write files wherever it is told to.
LEFT_OUT = {"admin.erase_space", "admin.maintain", "admin.backup"}
MEMORY_METHODS = [
    f"{name}.{method}"
    for name, held in vars(Memory).items()
    if isinstance(held, resource)
    for method in plain(held.kind)
    if f"{name}.{method}" not in LEFT_OUT
]
OPERATOR_METHODS = [
    "erase", "forget", "lower_visibility", "restore", "update", "withhold_from",
    "browse", "browse_count", "graph", "history", "show",
    "audience.chats", "audience.of", "audience.preview", "audience.recall",
    "audit.access_log", "audit.activity", "audit.daily_counts", "people.about", "people.list",
]  # fmt: skip


GOOD: dict[str, Any] = {
    "content": "two", "category": "profile", "key": "k", "value": "v", "visibility": "private_only",
    "who": ["telegram:2002"], "person": "Sarah", "name": "Al", "lines": ['{"content": "x"}'],
    "query": "one", "since": 0, "limit": 5, "cursor": None, "prefix": None, "state": None,
    "pinned": None, "on": True, "if_version": None, "chat": TEAM, "external_key": "telegram:1001",
    "account": "acct:a", "verified": True, "actor": "root", "identity": "acct:a", "old": TEAM,
    "wait_seconds": 0, "task": "expire", "messages": [tacit.Message("user", "I live in Rome")],
    "new": "telegram:-7", "subject": "telegram:2002", "into": "telegram:2002", "asked_by": None,
    "run": "20260101", "repair": True, "checks": None, "format": "jsonl", "everything": True,
    "draft": tacit.SessionDraft(summary="Talked.", facts=("one", "two")),
    "path": "a.md", "text": "- one\n", "folder": "", "data": {"step": 1}, "version": None,
    "code": "ABCDE-23456",
    "channel": "telegram", "updates": [tacit.Update("1", TEAM, "{}", "telegram:1001")], "after": 0,
    "message": "m1", "search": tacit.Search(words="one"), "source": "mem0", "total": None,
    "items": [tacit.ImportItem(content="one", data={"a": 1}, about=["Sarah"])],
}  # fmt: skip
GOOD_ELSEWHERE = {
    ("events", "since"): None,
    ("activity", "since"): None,
    ("daily_counts", "days"): 30,
    ("erase_about", "person"): "telegram:2002",
    ("OperatorPeople.about", "person"): "telegram:2002",
    ("export", "turns"): False,
    ("name", "kind"): "alias",
    ("list", "kind"): None,
    ("Files.write", "new"): False,
    ("Files.rename", "old"): "a.md",
    ("Files.rename", "new"): "b.md",
    ("explain", "chat"): tacit.Chat.private("telegram:1001"),
    ("OperatorAudience.recall", "chat"): tacit.Chat.private("telegram:1001"),
    ("OperatorAudience.recall", "asked_by"): ALICE,
    ("preview", "chat"): tacit.Chat.group(TEAM, ["telegram:1001"]),
    ("merge_people", "person"): "person:AAAAAAAA",
    ("People.merge", "person"): "person:AAAAAAAA",
    ("People.unmerge", "person"): "person:AAAAAAAA",
    ("unmerge_people", "person"): "person:AAAAAAAA",
    ("People.merge", "into"): "person:BBBBBBBB",
    ("join", "person"): "telegram:2002",
    ("leave", "person"): "telegram:2002",
    ("resolve", "id"): TEAM,
    ("resolve", "requester"): ALICE,
    ("Keys.create", "requester"): "telegram:2002",
    ("Keys.create", "scopes"): ["read", "act-as"],
}


def arguments(method: Callable[..., Any], draw: Callable[[Any], Any], id: str) -> tuple[list[Any], dict[str, Any]]:
    """Good ones, but for a few: a call that is wrong in every part is refused at its first."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    given_names = inspect.signature(method).parameters
    strange = draw(st.sets(st.sampled_from([*given_names, "-"]), max_size=2))
    for name, parameter in given_names.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            fields = st.sampled_from([field for field in FIELDS if field not in given_names])
            named |= {field: draw(VALUES) for field in draw(st.lists(fields, max_size=2))}
            continue
        usual = id if name == "id" else GOOD.get(name)
        good = GOOD_ELSEWHERE.get((method.__name__, name), usual)
        good = GOOD_ELSEWHERE.get((method.__qualname__, name), good)
        value = draw(VALUES) if name in strange else good
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            args.append(value)
    return args, named


def call(method: Callable[..., Any], args: Any, named: Any) -> None:
    try:
        answer = method(*args, **named)
        if inspect.isgenerator(answer):
            list(answer)
        repr(answer)
    except tacit.TacitError as error:
        str(error).encode()  # what an error says can be printed and sent


@pytest.mark.parametrize("surface", ["view", "memory", "operator"])
def test_any_value_anywhere_gives_a_result_or_a_tacit_error(memory: Memory, surface: str) -> None:
    room, own = group(memory, ALICE), private(memory, ALICE)
    things: dict[str, tuple[list[Any], list[str]]] = {
        "view": ([own, room], VIEW_METHODS),
        "memory": ([memory], MEMORY_METHODS),
        "operator": ([memory.operator("root")], OPERATOR_METHODS),
    }
    on, names = things[surface]

    @settings(suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        thing = data.draw(st.sampled_from(on))
        method = attrgetter(data.draw(st.sampled_from(names)))(thing)
        id = kept(own, "one", category="profile", key="k")
        call(method, *arguments(method, data.draw, id))

    ask()
    assert_nothing_is_half_done(memory)


def test_any_value_makes_a_view_or_a_tacit_error(memory: Memory) -> None:
    @settings(suppress_health_check=list(HealthCheck))
    @given(st.lists(VALUES, min_size=11, max_size=11))
    def ask(values: list[Any]) -> None:
        try:
            who = tacit.Requester(values[0] or ALICE.key, values[1], values[2])
            kind = values[4] or ChatKind.GROUP
            vouched = True if values[9] is None else values[9]
            chat = tacit.Chat(values[3] or TEAM, kind, values[5] or (), values[6], vouched)
            view = memory.view(who, chat, thread=values[7], categories=values[10])
            view.remember("one")
            view.people.list()
        except tacit.TacitError as error:
            str(error).encode()
        for make in (lambda: memory.space(values[8]), lambda: memory.operator(values[8])):
            try:
                make()
            except tacit.TacitError as error:
                str(error).encode()

    ask()
    assert_nothing_is_half_done(memory)


def assert_nothing_is_half_done(memory: Memory) -> None:
    """Every row has its version, history, people and words; and what was there still answers."""
    done = memory.admin.maintain()
    assert done.healthy, done.problems
    for who in (ALICE, BOB):
        view = private(memory, who)
        for one in view.list(limit=500):
            entries = view.history(one.id)
            assert entries[0].event == "ADD"
            assert {e.version for e in entries} == set(range(1, one.version + 1))
    view = private(memory, BOB)
    assert view.remember("still here")


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


def test_a_hostile_cursor_is_refused_and_somebody_elses_shows_nothing_of_theirs(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("one")
    refused(
        "cursor",
        NO_CURSOR,
        lambda cursor: view.list(cursor=cursor),
        lambda cursor: view.people.about(ALICE.key, cursor=cursor),
    )
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


OPERATORS = [
    '"', '""', '"a', "a\"b", "'", "a*", "*", "^a", "a AND", "AND", "OR", "NOT a", "NEAR(a b, 2)",
    "content:apple", "owner : alice", "{content} : a", "-a", "+a", "a+b", "(", ")", "((a)", "a:b:c",
    "a & b", "a | b", "!a", "a <-> b", "a:*", "'a' & !b", "\\", "a\\", "$$", "%", "_", "--", ";",
    "/* a */", "a || b", "NULL", "\t", "\r\n", "\x01", "\x1f\x7f", "a\x0bb",
]  # fmt: skip


HUGE = ["x" * 100_000, "apple " * 17_000, "林" * 34_000, "🍎" * 25_000, "\u0301" * 50_000,
        "a" * 199_999 + " ", '"' * 100_000, "ﷺ" * 20_000, ("\u202eapple " * 9_000)]  # fmt: skip


anything = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(), max_size=20),  # surrogates and all
    st.lists(st.sampled_from([*OPERATORS, "apple", "🍎", "ابحث", "\x00", "\ud800"])).map(" ".join),
    st.binary(max_size=30).map(lambda data: data.decode("utf-8", "surrogateescape")),
)


def ask(view: object, query: str) -> None:
    """Results or one of our errors, whichever way it is asked."""
    for name in ("recall", "query", "fresh"):
        try:
            found = getattr(view, name)(query)
        except tacit.InvalidInput as error:
            problem = (error.field, len(str(error)) < 300)
            assert problem == ("query", True)
            continue
        if name == "recall":
            assert all(isinstance(one, Recalled) and 0 <= one.similarity <= 1 for one in found)
            assert all(one.why and one.score >= 0 for one in found)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(query=anything)
@example(query="\ud800 apple")
@example(query="apple\x00")
def test_any_text_is_a_question(memory: Memory, query: str) -> None:
    view, here = private(memory, ALICE), group(memory, BOB)
    if not view.list(limit=1):
        view.remember("apple 🍎 ابحث AND owner", visibility="public_ok", sensitivity="public")
    ask(view, query)
    ask(here, query)


def test_operators_quotes_and_odd_marks_are_text(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple AND owner alice")
    for query in (*OPERATORS, *ODD, *EMPTY, *INVISIBLE, *BROKEN):
        ask(view, query)


def test_a_very_long_question_is_answered(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple 林")
    for query in HUGE:
        ask(view, query)
    assert len(view.recall("apple " * 17_000)) == 1
    with pytest.raises(tacit.InvalidInput, match="query"):
        view.recall("x" * 200_001)


def test_any_text_is_a_question_by_meaning_too(opened: Open) -> None:
    view = private(opened("sqlite://", embedder=minilm()), ALICE)
    view.remember("apple AND owner alice")
    for query in (*OPERATORS, *ODD, *EMPTY, *INVISIBLE, *BROKEN, *HUGE):
        ask(view, query)


def test_an_empty_question_brings_nothing_to_mind(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple")
    for query in ("", " ", "\n\t", "?!", "…", "the of and"):
        assert view.recall(query) == [], query
        assert view.query(query) == [], query


SCRIPTS = {
    "Chinese": ("我妹妹住在里斯本", "妹妹住在哪里", "里斯本"),
    "Japanese": ("毎朝コーヒーを飲みます", "コーヒー", "毎朝何を飲む？"),
    "Japanese kana": ("わたしはりんごがすきです", "りんご", "すき"),
    "Korean": ("나는 서울에서 일합니다", "서울", "서울에서"),
    "half-width kana": ("ｶﾀｶﾅ テスト", "カタカナ", "ｶﾀｶﾅ"),
    "accented": ("Le café de la Gare à Besançon", "café", "Besançon"),
    "accents left out": ("Zoë naïve résumé", "zoe", "resume"),
    "accents put in": ("Zoe wrote a resume", "Zoë", "résumé"),
    "decomposed": ("cafe\u0301 noir", "café", "cafe\u0301"),
    "German": ("Die Straße heißt Größenweg", "STRASSE", "größenweg"),
    "Turkish": ("İstanbul'da yaşıyorum", "istanbul", "İSTANBUL"),
    "Greek": ("Η Μαρία μένει στην Αθήνα", "Αθήνα", "ΑΘΗΝΑ"),
    "Russian": ("Моя сестра живёт в Москве", "сестра", "МОСКВЕ"),
    "Ukrainian": ("Їжак живе у лісі", "їжак", "лісі"),
    "Arabic": ("أختي تسكن في القاهرة", "القاهرة", "أختي"),
    "Hebrew": ("אחותי גרה בחיפה", "בחיפה", "אחותי"),
    "Hindi": ("मेरी बहन दिल्ली में रहती है", "दिल्ली", "बहन"),
    "Bengali": ("আমার বোন ঢাকায় থাকে", "ঢাকায়", "বোন"),
    "Tamil": ("என் சகோதரி சென்னையில்", "சென்னையில்", "சகோதரி"),
    "Thai": ("น้องสาวของฉันอยู่ที่กรุงเทพ", "กรุงเทพ", "น้องสาว"),
    "Vietnamese": ("Chị tôi sống ở Đà Nẵng", "Đà Nẵng", "da nang"),
    "emoji": ("my favourite is 🍕", "🍕 favourite"),
    "wide letters": ("ＡＢＣ company", "abc", "ＡＢＣ"),
    "ligature": ("the oﬃce key", "office", "oﬃce"),
}


def test_every_script_finds_itself_by_words_alone(memory: Memory, subtests: pytest.Subtests) -> None:
    for number, (script, (text, *queries)) in enumerate(SCRIPTS.items()):
        view = private(memory.space(f"script-{number}"), ALICE)
        view.remember("nothing of the kind here")
        view.remember("une autre chose, 其他的事, その他, 기타")
        view.remember(text)
        for query in (text, *queries):
            with subtests.test(f"{script}: {query}"):
                found = view.recall(query)
                assert found
                assert found[0].memory.content == text
