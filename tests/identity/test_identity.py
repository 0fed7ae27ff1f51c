"""External keys, subjects and links: pure, without a database."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import InvalidInput
from tacit.identity import (
    Identities,
    RawRequest,
    StoredChat,
    infer_private_chat_person,
    is_subject,
    parse_chat_id,
    parse_external_key,
    parse_identity,
    parse_request,
    parse_subject,
    resolve_request,
    subject_of_key,
)
from tacit.records.accounts import Link, LinkKind
from tacit.records.memory import ChatKind

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = st.sampled_from(["ext:a:1", "ext:a:2", "acct:x", "acct:y", "person:AAAAAAAA", "person:B"])


def link(source: str, target: str, *, kind: str = "link", verified: bool = True, ended: bool = False) -> Link:
    return Link(
        id=f"{source}>{target}>{ended}",
        source=source,
        target=target,
        kind=LinkKind(kind),
        actor="system",
        created_at=NOW,
        verified_at=NOW if verified else None,
        ended_at=NOW if ended else None,
    )


LINKS = st.lists(
    st.builds(link, NAMES, NAMES, kind=st.sampled_from(["link", "merge"]), verified=st.booleans(), ended=st.booleans()),
    max_size=6,
)


@pytest.mark.parametrize(
    ("key", "subject"),
    [
        ("telegram:123", "ext:telegram:123"),
        ("slack:T1:U2", "ext:slack:T1:U2"),
        ("acct:42", "acct:42"),
        ("web:some.body@example.org", "ext:web:some.body@example.org"),
        ("matrix:a:b:c", "ext:matrix:a:b:c"),
    ],
)
def test_a_channels_key_becomes_one_subject(key: str, subject: str) -> None:
    assert subject_of_key(parse_external_key(key)) == subject
    assert parse_subject(key) == subject
    assert parse_subject(subject) == subject
    assert parse_identity(key, "who") == subject
    assert is_subject(subject)


NO_KEYS = [
    "", ":", "telegram", "telegram:", "telegram:0", "telegram:-1", "telegram:01", "telegram:1:",
    "Telegram:1", "1web:a", "web:ä", "web:a/b", "web:a b", "web:a ", "web:\N{ZERO WIDTH SPACE}",
    "slack:T1", "slack:T1:", "slack:T1:U1:X", "acct:", "acct:a:b", "ext:telegram:1",
    "person:AAAAAAAA", "web:" + "a" * 190,
]  # fmt: skip


@pytest.mark.parametrize("key", NO_KEYS)
def test_what_no_channel_writes_is_no_key(key: str) -> None:
    with pytest.raises(InvalidInput):
        parse_external_key(key)


@given(st.text())
def test_any_text_is_a_key_or_refused(text: str) -> None:
    try:
        key = parse_external_key(text)
    except InvalidInput:
        return
    assert parse_external_key(key) == key
    assert subject_of_key(key).removeprefix("ext:") == key


@given(st.text())
def test_any_text_is_an_identity_a_name_or_refused(text: str) -> None:
    try:
        found = parse_identity(text, "who")
    except InvalidInput:
        return
    assert found is None or found.startswith(("ext:", "acct:", "person:"))


@pytest.mark.parametrize(
    ("chat", "whose"),
    [("telegram:1001", "ext:telegram:1001"), ("telegram:-1001", None), ("slack:T1:D5", None), ("web:1001", None)],
)
def test_some_channels_number_private_chats_by_their_person(chat: str, whose: str | None) -> None:
    assert infer_private_chat_person(parse_chat_id(chat)) == whose


def test_an_identity_without_links_is_a_person_of_its_own() -> None:
    nobody = Identities()
    assert nobody.current_identities("ext:a:1") == nobody.all_identities("ext:a:1") == {"ext:a:1"}
    assert nobody.person_id("ext:a:1") == nobody.subject("ext:a:1") == "ext:a:1"
    assert nobody.is_recognizable("ext:a:1")
    assert not nobody.is_recognizable("person:AAAAAAAA")


def test_two_keys_of_an_account_are_one_person() -> None:
    found = Identities((link("ext:a:1", "acct:x"), link("ext:a:2", "acct:x")))
    assert found.current_identities("ext:a:1") == {"ext:a:1", "ext:a:2", "acct:x"}
    assert {found.person_id(i) for i in found.current_identities("ext:a:1")} == {"acct:x"}
    assert found.subject("ext:a:2") == "acct:x"


def test_an_ended_link_holds_for_what_is_withheld_and_for_nothing_else() -> None:
    found = Identities((link("ext:a:1", "acct:x", ended=True), link("ext:a:2", "acct:x")))
    assert found.current_identities("ext:a:1") == {"ext:a:1"}
    assert found.all_identities("ext:a:1") == {"ext:a:1", "ext:a:2", "acct:x"}
    assert found.subject("ext:a:1") == "ext:a:1"


def test_a_link_that_was_never_verified_holds_for_nothing() -> None:
    found = Identities((link("ext:a:1", "acct:x", verified=False),))
    assert found.current_identities("ext:a:1") == found.all_identities("ext:a:1") == {"ext:a:1"}


def test_a_merge_tells_who_somebody_is_but_not_what_they_write_as() -> None:
    found = Identities((link("person:AAAAAAAA", "ext:a:1", kind="merge"),))
    assert found.person_id("person:AAAAAAAA") == "ext:a:1"
    assert found.subject("person:AAAAAAAA") == "person:AAAAAAAA"
    assert found.is_recognizable("person:AAAAAAAA")


@given(LINKS, NAMES)
def test_who_is_one_person_is_an_equivalence(links: list[Link], name: str) -> None:
    found = Identities(tuple(links))
    assert name in found.current_identities(name)
    assert found.current_identities(name) <= found.all_identities(name)
    for other in found.current_identities(name):
        assert found.current_identities(other) == found.current_identities(name)
    for other in found.all_identities(name):
        assert found.all_identities(other) == found.all_identities(name)
    assert found.person_id(name) in found.current_identities(name)
    assert found.subject(name) in found.current_identities(name)


@given(st.lists(st.tuples(NAMES, NAMES), max_size=5, unique_by=lambda pair: pair[0]))
def test_one_person_has_one_head_also_where_links_go_in_a_circle(pairs: list[tuple[str, str]]) -> None:
    # As the store keeps them: each identity leads to one other at most.
    found = Identities(tuple(link(a, b) for a, b in pairs if a != b))
    for name in {name for pair in pairs for name in pair}:
        assert {found.person_id(other) for other in found.current_identities(name)} == {found.person_id(name)}


def asked(
    who: str | None, kind: ChatKind, here: set[str], *, chat: str = "web:c", complete: bool = False
) -> RawRequest:
    return RawRequest(who, chat, kind, frozenset(here), complete)


def test_private_means_that_nobody_else_is_there() -> None:
    def private(asking: RawRequest, place: StoredChat) -> bool:
        return resolve_request("s", NOW, asking, place, Identities(), union=True).private

    mine = StoredChat(id="web:c", kind=ChatKind.PRIVATE, members=frozenset({"ext:a:1"}))
    shared = StoredChat(id="web:c", kind=ChatKind.PRIVATE, members=frozenset({"ext:a:2"}))
    new, room = StoredChat(id="web:c"), StoredChat(id="web:c", kind=ChatKind.GROUP)
    assert private(asked("ext:a:1", ChatKind.PRIVATE, set()), mine)
    assert private(asked("ext:a:1", ChatKind.PRIVATE, {"ext:a:1"}), new)
    assert not private(asked("ext:a:1", ChatKind.PRIVATE, {"ext:a:2"}), new)
    assert not private(asked("ext:a:1", ChatKind.PRIVATE, set()), shared)
    assert not private(asked("ext:a:1", ChatKind.PRIVATE, set()), room)
    assert not private(asked(None, ChatKind.PRIVATE, set()), new)
    theirs = asked("ext:a:1", ChatKind.PRIVATE, set(), chat="telegram:5")
    assert not private(theirs, StoredChat(id="telegram:5"))


def test_a_group_is_one_only_for_its_members() -> None:
    place = StoredChat(id="web:c", kind=ChatKind.GROUP, members=frozenset({"ext:a:2"}))

    def kind(asking: RawRequest) -> ChatKind:
        return resolve_request("s", NOW, asking, place, Identities(), union=True).kind

    assert kind(asked("ext:a:1", ChatKind.GROUP, {"ext:a:1"})) is ChatKind.GROUP
    assert kind(asked("ext:a:2", ChatKind.GROUP, set())) is ChatKind.GROUP
    assert kind(asked("ext:a:1", ChatKind.GROUP, set())) is ChatKind.UNKNOWN
    assert kind(asked(None, ChatKind.GROUP, {"ext:a:1"})) is ChatKind.UNKNOWN
    assert kind(asked("ext:a:2", ChatKind.GROUP, set(), complete=True)) is ChatKind.UNKNOWN


def test_a_complete_list_is_believed_and_an_incomplete_one_completed() -> None:
    place = StoredChat(id="web:c", kind=ChatKind.GROUP, members=frozenset({"ext:a:2"}))
    some = asked("ext:a:1", ChatKind.GROUP, {"ext:a:1"})
    every = asked("ext:a:1", ChatKind.GROUP, {"ext:a:1"}, complete=True)
    none = Identities()
    assert resolve_request("s", NOW, some, place, none, union=True).audience == {"ext:a:1", "ext:a:2"}
    assert resolve_request("s", NOW, every, place, none, union=True).audience == {"ext:a:1"}
    assert not resolve_request("s", NOW, some, place, none, union=True).complete
    assert resolve_request("s", NOW, every, place, none, union=True).complete


def test_canonical_reading_leaves_aliases_out_and_withholding_does_not() -> None:
    found = Identities((link("ext:a:1", "acct:x"),))
    asking = asked("ext:a:1", ChatKind.PRIVATE, set())
    place = StoredChat(id="web:c")
    union = resolve_request("s", NOW, asking, place, found, union=True)
    canonical = resolve_request("s", NOW, asking, place, found, union=False)
    assert union.own_identities == {"ext:a:1", "acct:x"}
    assert canonical.own_identities == {"acct:x"}
    assert canonical.subject == union.subject == "acct:x"
    assert canonical.audience_identities == union.audience_identities == {"ext:a:1", "acct:x"}


def test_bots_are_nobody_and_spoil_completeness() -> None:
    bot = tacit.Requester("telegram:9", is_bot=True)
    person = tacit.Requester("telegram:1", name="Ann", username="ann")
    chat = tacit.Chat.group("telegram:-5", [person, bot, "telegram:2"], complete=True)
    asking = parse_request(person, chat)
    assert asking.participants == {"ext:telegram:1", "ext:telegram:2"}
    assert not asking.complete
    assert ("ext:telegram:1", "name", "Ann") in asking.names
    assert parse_request(bot, chat).subject is None
    assert parse_request(None, chat).subject is None


@pytest.mark.parametrize("chat", [None, "telegram:1", 5, tacit.Requester("telegram:1")])
def test_a_request_takes_a_chat_and_a_requester(chat: Any) -> None:
    with pytest.raises(InvalidInput, match="chat"):
        parse_request(None, chat)
    with pytest.raises(InvalidInput, match="requester"):
        parse_request("telegram:1", tacit.Chat.private("telegram:1"))  # type: ignore[arg-type]


def test_a_chat_takes_so_many_participants_and_no_more() -> None:
    many = [f"telegram:{number}" for number in range(1, 1_002)]
    with pytest.raises(InvalidInput, match="participants"):
        parse_request(None, tacit.Chat.group("telegram:-5", many))
    assert len(parse_request(None, tacit.Chat.group("telegram:-5", many[:1_000])).participants) == 1_000
