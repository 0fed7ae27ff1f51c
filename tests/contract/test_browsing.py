"""Looking through one's own memories: every filter, words as they are typed, a page at a time."""

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import Search
from tacit.memory import Memory
from tacit.records.queries import ANY_STATE
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, FAMILY, OPEN, TEAM, WEB, SetClock, group, in_pages, kept, private

# Words are asked of the newest alone, then by their index, then of all others.
WAYS = [(200, 700), (2, 700), (2, 1)]
KEEPING = Settings(memory=MemorySettings(sessions=SessionsSettings(keep=True)))


def found(view: View, **fields: Any) -> list[str]:
    """What a search finds, newest first; and it is counted alike."""
    search = Search(**fields)
    page = view.browse(search)
    assert view.browse_count(search) == len(page)
    return [memory.content for memory in page]


@pytest.fixture
def lived(memory: Memory, clock: SetClock) -> Memory:
    own = private(memory, ALICE)
    for content, fields in (
        ("Green tea in the morning", {"kind": "preference", "category": "preference"}),
        ("Sarah lives in Zürich", {"about": ["Sarah"]}),
        ("My salary is a secret", {"sensitivity": "sensitive"}),
        ("I run on Sundays", {"visibility": "public_ok"}),
    ):
        kept(own, content, **fields)
        clock.forward(days=1)
    kept(group(memory, ALICE), "The team meets at nine", **OPEN)
    clock.forward(days=1)
    own.pin(kept(own, "Pinned"))
    return memory


def test_a_person_finds_their_own_newest_first(lived: Memory) -> None:
    kept(private(lived, BOB), "Bob's own", about=[ALICE.key])
    kept(group(lived, BOB), "Bob said to the room", **OPEN)
    assert found(private(lived, ALICE)) == [
        "Pinned",
        "The team meets at nine",
        "I run on Sundays",
        "My salary is a secret",
        "Sarah lives in Zürich",
        "Green tea in the morning",
    ]
    assert set(found(private(lived, BOB), words="bob")) == {"Bob said to the room", "Bob's own"}


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"kind": "preference"}, ["Green tea in the morning"]),
    ({"category": "preference"}, ["Green tea in the morning"]),
    ({"about": "Sarah"}, ["Sarah lives in Zürich"]),
    ({"about": "me", "words": "run"}, ["I run on Sundays"]),
    ({"about": "Nobody"}, []),
    ({"about": BOB.key}, []),
    ({"chat": TEAM}, ["The team meets at nine"]),
    ({"chat": FAMILY}, []),
    ({"visibility": "public_ok"}, ["I run on Sundays"]),
    ({"sensitivity": "sensitive"}, ["My salary is a secret"]),
    ({"pinned": True}, ["Pinned"]),
    ({"pinned": False, "words": "pinned"}, []),
    ({"state": "forgotten"}, []),
    ({"state": ANY_STATE, "words": "pin"}, ["Pinned"]),
    ({"words": "sec sal", "sensitivity": "sensitive"}, ["My salary is a secret"]),
    ({"words": "sec", "sensitivity": "public"}, []),
]


def test_each_filter_narrows_what_is_found(lived: Memory) -> None:
    for fields, expected in FILTERS:
        assert found(private(lived, ALICE), **fields) == expected, fields


def test_times_are_from_and_until(lived: Memory, clock: SetClock) -> None:
    own = private(lived, ALICE)
    third = clock.now - timedelta(days=3)
    assert len(found(own, since=third)) == 4
    assert found(own, until=third) == ["Sarah lives in Zürich", "Green tea in the morning"]
    assert found(own, since=third, until=third + timedelta(days=1)) == ["My salary is a secret"]
    assert found(own, since=third, words="sarah") == []


def test_other_states_are_found_where_they_are_asked_for(lived: Memory, clock: SetClock) -> None:
    own = private(lived, ALICE)
    own.forget(own.browse(Search(words="salary")).items[0].id)
    kept(own, "Soon over", expires_at=clock.now + timedelta(days=1))
    assert found(own, words="s") == ["Soon over", "I run on Sundays", "Sarah lives in Zürich"]
    clock.forward(days=2)
    assert found(own, state="forgotten") == ["My salary is a secret"]
    assert [one.state for one in own.browse(Search(state="expired"))] == ["expired"]
    assert found(own, state=ANY_STATE, words="s")[:1] == ["Soon over"]
    assert "Soon over" not in found(own)


BEGUN = [
    ("gr", "Green tea"),
    ("GREEN", "green tea"),
    ("zuri", "Sarah lives in Zürich"),
    ("ZÜR", "in zurich"),
    ("tea gre", "Green tea"),
    ("cafe", "Café"),
    ("strasse", "Lange Straße"),
    ("o'br", "Mr. O'Brien"),
    ("mail example", "mail@example.org"),
    ("3.1", "version 3.14"),
    ("学校", "我喜欢学校的图书馆"),
    ("喜欢学校的图书馆和操", "我喜欢学校的图书馆和操场"),
    ("하", "한국어"),
    ("чай", "Чайник"),
    ("a" * 150, "b " + "a" * 200),
]


def test_words_are_found_by_how_they_begin(memory: Memory) -> None:
    own = private(memory, ALICE)
    for _, content in BEGUN:
        own.remember(content)
    for words, content in BEGUN:
        assert content in found(own, words=words)
        assert bool(found(own, words=f"{words} qqq")) is False, words
    for nothing in ("een", "tea x", "green-teas", "q", "ü", "图书馆我", "  ?!  ", "😀"):
        assert found(own, words=nothing) == []
        assert memory.operator("ada").browse_count(Search(words=nothing)) == 0
    for blank in ("", " \n "):
        assert len(found(own, words=blank)) == len(BEGUN)


HOSTILE = [
    '"', "'", '" OR "', "a* OR b", "NEAR(a b)", "content : x", "own : x", "-a", "^a", "a AND", "(",
    ")", "{a}", "a:*", "a & b", "a | !b", "\\", "'a':*", "%", "_", "x%", "; DROP TABLE memories",
    "*", "\u202e", "a\u0301", "𞤀𞤁", "😀", "ﬁ", "\n\t", "x1", "_x", "NOT", "null",
]  # fmt: skip


def test_whatever_is_typed_is_text(memory: Memory) -> None:
    own = private(memory, ALICE)
    for words in HOSTILE:
        kept(own, f"said {words} there")
    for words in HOSTILE:
        alone = found(own, words=words)
        has_word = any(char.isalnum() for char in words) or not words.strip()
        assert (f"said {words} there" in alone) if has_word else alone == [], words
        assert f"said {words} there" in found(own, words=f"sa {words} th"), words


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_each_typed_word_begins_a_word_of_what_is_found(data: st.DataObject) -> None:
    """And all that it begins is found: in the newest ones, by the index, and on by all others."""
    word = st.text(alphabet="abü", min_size=1, max_size=3)
    said = st.lists(word, min_size=1, max_size=3).map(" ".join)
    contents = data.draw(st.lists(said, min_size=1, max_size=12))
    typed = data.draw(st.lists(word, min_size=1, max_size=2))
    plain = str.maketrans("ü", "u")
    with pytest.MonkeyPatch.context() as patch, tacit.open("sqlite://", embedder=None) as memory:
        own = private(memory, ALICE)
        for content in contents:
            own.remember(content)
        for first, few in WAYS:
            patch.setattr("tacit.limits.BROWSE_FIRST_COUNT", first)
            patch.setattr("tacit.limits.BROWSE_LOOKUP_MAX_COUNT", few)
            there = [
                one
                for one in found(own)
                if all(any(w.startswith(t.translate(plain)) for w in one.translate(plain).split()) for t in typed)
            ]
            assert found(own, words=" ".join(typed)) == there


def test_pages_follow_one_another_until_the_end(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, web = private(memory, ALICE), private(memory, WEB)
    for number in range(9):
        kept(own if number % 2 else web, f"{'xy' if number % 3 else 'ab'} thing {number}")
        clock.forward(seconds=number % 2)
    memory.admin.link(ALICE.key, "acct:alice")
    for (first, few), words in product(WAYS, [None, "x", "x th"]):
        monkeypatch.setattr("tacit.limits.BROWSE_FIRST_COUNT", first)
        monkeypatch.setattr("tacit.limits.BROWSE_LOOKUP_MAX_COUNT", few)
        search = Search(words=words)
        everything = [one.id for one in own.browse(search)]
        assert len(everything) == own.browse_count(search) == (6 if words else 9)
        assert paged(own, search) == everything


def paged(view: View, search: Search) -> list[str]:
    return [one.id for one in in_pages(view.browse, search=search, limit=2)]


def test_what_changes_is_found_as_it_is_now_and_one_space_is_not_another(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "green apples")
    assert found(own, words="app") == ["green apples"]
    own.update(id, "red pears")
    assert (found(own, words="app"), found(own, words="pea")) == ([], ["red pears"])
    own.erase(id)
    assert found(own, words="pea", state=ANY_STATE) == []
    kept(private(memory, ALICE), "here")
    assert found(private(memory.space("other"), ALICE), words="here") == []


def test_elsewhere_than_in_private_there_is_nothing_to_look_through(lived: Memory) -> None:
    room = group(lived, ALICE)
    assert (found(room), found(room, words="team"), found(room, about="Sarah")) == ([], [], [])
    assert list(room.audit.access_log()) == []


def test_turns_are_never_among_them(database_url: str, opened: Open) -> None:
    own = private(opened(database_url, settings=KEEPING), ALICE)
    own.record([tacit.Message("user", "I like zebras")])
    assert (found(own), found(own, words="zebra", state=ANY_STATE)) == ([], [])


def test_an_agent_finds_no_more_than_its_categories(memory: Memory) -> None:
    own = private(memory, ALICE)
    kept(own, "one", category="profile")
    kept(own, "two", category="preference")
    narrow = memory.view(ALICE, tacit.Chat.private(ALICE.key), categories=["preference"])
    assert [one.content for one in narrow.browse()] == ["two"]
    assert narrow.browse_count() == 1
    with pytest.raises(tacit.InvalidInput, match="may not use"):
        narrow.browse(Search(category="profile"))


def test_counting_ends_at_a_thousand(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.limits.BROWSE_COUNT_MAX_COUNT", 3)
    monkeypatch.setattr("tacit.limits.BROWSE_FIRST_COUNT", 1)
    own = private(memory, ALICE)
    for number in range(5):
        kept(own, f"thing {number}")
    assert [own.browse_count(Search(words=one)) for one in (None, "th", "4")] == [3, 3, 1]


SENSELESS: list[tuple[dict[str, Any], str]] = [
    ({"words": 5}, "words"),
    ({"words": "x" * 1_001}, "words"),
    ({"words": " ".join(f"w{n}" for n in range(33))}, "words"),
    ({"words": "a\x00b"}, "words"),
    ({"category": "nothing"}, "category"),
    ({"kind": "nothing"}, "kind"),
    ({"about": 5}, "about"),
    ({"chat": "telegram:x"}, "chat"),
    ({"visibility": "all"}, "visibility"),
    ({"sensitivity": 1}, "sensitivity"),
    ({"state": "gone"}, "state"),
    ({"state": 5}, "state"),
    ({"pinned": 1}, "pinned"),
    ({"since": "yesterday"}, "since"),
    ({"until": 5}, "until"),
    ({"owner": BOB.key}, "owner"),
]


def test_a_search_that_makes_no_sense_is_refused(memory: Memory) -> None:
    own = private(memory, ALICE)
    for fields, field in SENSELESS:
        for ask in (own.browse, own.browse_count):
            with pytest.raises(tacit.InvalidInput) as refused:
                ask(Search(**fields))
            assert refused.value.field == field
    strange: Any = "tea"
    with pytest.raises(tacit.InvalidInput, match="expected a Search"):
        own.browse(strange)
