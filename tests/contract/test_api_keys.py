"""Keys for callers from outside: bound, hashed, and gone when they are revoked."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

import tacit
from tacit import Chat, ChatKind, Scope, limits
from tacit.memory import Memory
from tacit.storage import auth as stored
from tacit.storage.schema import api_keys
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, TEAM, SetClock, group, private, said

TOKEN = re.compile(r"tct_([A-Za-z0-9]{12})_([A-Za-z0-9_-]{43})")


@pytest.fixture(scope="module")
def any_clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def any_memory(any_clock: SetClock) -> Iterator[Memory]:
    """Where the database makes no difference."""
    with tacit.open("sqlite://", embedder=None, clock=any_clock) as opened:
        opened.keys.create("k", scopes=["read"])
        yield opened


@pytest.fixture
def light(any_memory: Memory, request: pytest.FixtureRequest) -> Memory:
    """A space of the test's own in it."""
    return any_memory.space(request.node.name[-60:].strip("_"))


def rows(memory: Memory) -> list[dict[str, Any]]:
    with memory._storage.database.read() as connection:
        return [dict(row._mapping) for row in connection.execute(select(api_keys))]


def test_a_key_is_what_was_asked_for(memory: Memory, clock: SetClock) -> None:
    made = memory.space("acme").keys.create(
        "laptop",
        scopes=["read", Scope.ACT_AS],
        requester="telegram:1001",
        agent="planner",
        categories=["goal", "fact", "goal"],
        expires_days=30,
        rate_per_minute=90,
    )
    key = made.key
    assert (key.space, key.name, key.requester, key.agent) == ("acme", "laptop", "telegram:1001", "planner")
    assert key.scopes == {Scope.READ, Scope.ACT_AS}
    assert (key.categories, key.rate_per_minute) == (("fact", "goal"), 90)
    assert key.created_at == clock.now
    assert key.expires_at is not None
    assert (key.expires_at - clock.now).days == 30
    assert memory.space("acme").keys.list() == [key]
    assert memory.keys.list() == []
    least = memory.space("least").keys.create("k", scopes=["admin"]).key
    assert (least.requester, least.agent, least.categories, least.rate_per_minute) == (None,) * 4
    assert (least.expires_at, least.revoked_at) == (None, None)
    assert memory.keys.authenticate(made.token) == memory.space("other").keys.authenticate(made.token) == key


def test_an_empty_allow_list_stays_empty(memory: Memory) -> None:
    made = memory.keys.create("k", scopes=["read"], requester="telegram:1001", categories=[])
    found = memory.keys.authenticate(made.token)
    assert found is not None
    assert found.categories == ()
    private(memory, ALICE).remember("tea")
    view = memory.view(ALICE, Chat.private(ALICE.key), categories=found.categories)
    assert said(view.list()) == []


def test_the_secret_is_shown_once_and_only_its_hash_is_kept(memory: Memory) -> None:
    made = memory.keys.create("k", scopes=["read"])
    id, secret = TOKEN.fullmatch(made.token).groups()  # type: ignore[union-attr]
    (row,) = rows(memory)
    assert (row["key_id"], bytes(row["digest"])) == (made.key.id, hashlib.sha256(secret.encode()).digest())
    assert id == made.key.id
    assert secret not in repr(made)
    told = json.dumps([{**row, "digest": bytes(row["digest"]).hex()}]) + repr(memory.keys.list())
    assert secret not in told
    assert made.token not in told


def test_tokens_are_never_the_same(light: Memory) -> None:
    made = [light.keys.create("same", scopes=["read"]) for _ in range(20)]
    assert len({one.token for one in made}) == len({one.key.id for one in made}) == 20
    secrets = {TOKEN.fullmatch(one.token)[2] for one in made}  # type: ignore[index]
    assert len(secrets) == 20


def test_unknown_expired_and_revoked_keys_answer_alike(memory: Memory, clock: SetClock) -> None:
    good = memory.keys.create("good", scopes=["read"])
    old = memory.keys.create("old", scopes=["read"], expires_days=1)
    gone = memory.keys.create("gone", scopes=["read"])
    memory.keys.revoke(gone.key.id)
    clock.forward(days=1)
    secret = TOKEN.fullmatch(good.token)[2]  # type: ignore[index]
    for token in (
        old.token,
        gone.token,
        f"tct_AAAAAAAAAAAA_{secret}",
        f"tct_{good.key.id}_{'A' * 43}",
        f"tct_{old.key.id}_{secret}",
    ):
        assert memory.keys.authenticate(token) is None
    assert memory.keys.authenticate(good.token) == good.key


@given(st.text() | st.none() | st.integers() | st.binary())
def test_whatever_is_no_token_is_nobodys(any_memory: Memory, token: object) -> None:
    assert any_memory.keys.authenticate(token) is None


@given(st.data())
def test_a_token_that_is_not_quite_right_opens_nothing(any_memory: Memory, data: st.DataObject) -> None:
    made = any_memory.keys.create("k", scopes=["read"])
    at = data.draw(st.integers(0, len(made.token) - 1))
    other = data.draw(st.characters().filter(lambda char: char != made.token[at]))
    near = made.token[:at] + other + made.token[at + 1 :]
    for token in (near, made.token + other, made.token[:-1], f" {made.token}", f"{made.token}\n"):
        assert any_memory.keys.authenticate(token) is None
    assert any_memory.keys.authenticate(made.token) == made.key
    any_memory.keys.revoke(made.key.id)


def test_a_revoked_key_opens_nothing_at_once(memory: Memory, clock: SetClock) -> None:
    """Even though it was looked up a moment ago."""
    made = memory.keys.create("k", scopes=["read"])
    assert memory.keys.authenticate(made.token) is not None
    memory.keys.revoke(made.key.id)
    assert memory.keys.authenticate(made.token) is None
    (listed,) = memory.keys.list()
    assert listed.revoked_at == clock.now
    clock.forward(days=1)
    memory.keys.revoke(made.key.id)
    assert memory.keys.list() == [listed]


def test_what_was_looked_up_while_a_key_was_revoked_is_not_remembered(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(f"sqlite:///{tmp_path / 'keys.db'}")  # two connections
    made = memory.keys.create("k", scopes=["read"])
    read, revoked, ordinary = Event(), Event(), stored.find_api_keys

    def slowly(*given: Any) -> Any:
        found = ordinary(*given)
        read.set()
        assert revoked.wait(60)
        return found

    monkeypatch.setattr(stored, "find_api_keys", slowly)
    asking = Thread(target=memory.keys.authenticate, args=(made.token,))
    asking.start()
    assert read.wait(60)
    memory.keys.revoke(made.key.id)
    revoked.set()
    asking.join()
    assert memory.keys.authenticate(made.token) is None


def test_an_expired_key_is_not_kept_alive_by_being_used(light: Memory, any_clock: SetClock) -> None:
    made = light.keys.create("k", scopes=["read"], expires_days=1)
    any_clock.forward(days=1, seconds=-1)
    assert light.keys.authenticate(made.token) is not None
    any_clock.forward(seconds=1)
    assert light.keys.authenticate(made.token) is None


def test_another_process_sees_it_within_seconds(shared_url: str, opened: Open, clock: SetClock) -> None:
    here, there = opened(shared_url), opened(shared_url)
    made = here.keys.create("k", scopes=["read"])
    assert there.keys.authenticate(made.token) == made.key
    here.keys.revoke(made.key.id)
    clock.forward(seconds=limits.API_KEY_CACHE_SECONDS)
    assert there.keys.authenticate(made.token) is None
    assert limits.API_KEY_CACHE_SECONDS <= 5


def test_only_ones_own_space_is_listed_and_revoked(light: Memory) -> None:
    made = light.space("acme").keys.create("k", scopes=["admin"])
    for space in (light, light.space("other")):
        with pytest.raises(tacit.NotFound):
            space.keys.revoke(made.key.id)
    with pytest.raises(tacit.NotFound):
        light.keys.revoke("nonsense")
    assert light.keys.authenticate(made.token) == made.key


def test_a_space_and_a_person_that_are_erased_take_their_keys_along(memory: Memory) -> None:
    made = memory.space("acme").keys.create("k", scopes=["admin"])
    assert memory.keys.authenticate(made.token) is not None
    memory.space("acme").admin.erase_space()
    assert memory.keys.authenticate(made.token) is None
    assert rows(memory) == []
    made = memory.keys.create("k", scopes=["read"], requester=ALICE.key)
    others = memory.keys.create("k", scopes=["read"], requester=BOB.key)
    private(memory, ALICE).remember("tea")
    assert memory.keys.authenticate(made.token) is not None
    memory.admin.erase_person(ALICE.key)
    assert memory.keys.authenticate(made.token) is None
    assert memory.keys.authenticate(others.token) == others.key


def test_whether_there_is_a_key_that_opens_anything(memory: Memory, clock: SetClock) -> None:
    assert not memory.keys.any_active()
    made = memory.space("acme").keys.create("k", scopes=["admin"], expires_days=2)
    assert memory.keys.any_active()
    clock.forward(days=2)
    assert not memory.keys.any_active()
    made = memory.keys.create("k", scopes=["admin"])
    assert memory.space("acme").keys.any_active()
    memory.keys.revoke(made.key.id)
    assert not memory.keys.any_active()


def test_there_is_an_end_to_keys_and_those_that_are_over_make_room(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "API_KEYS_MAX_COUNT", 2)
    first = memory.keys.create("a", scopes=["read"])
    memory.keys.create("b", scopes=["read"])
    refuses(memory.keys.create, "name", "c", scopes=["read"])
    memory.keys.revoke(first.key.id)
    memory.keys.create("c", scopes=["read"])
    left = memory.keys.list()
    assert sorted(key.name for key in left) == ["b", "c"]
    memory.space("acme").keys.create("d", scopes=["read"])


def test_what_cannot_be_a_key_is_refused(any_memory: Memory) -> None:
    make = any_memory.keys.create
    for scopes in ([], "read", ["reads"], [1], None, 5):
        refuses(make, "scopes", "k", scopes=scopes)
    for name in ("", " k", None, "a\0b", "x" * 201):
        refuses(make, "name", name, scopes=["read"])
    refuses(make, "requester", "k", scopes=["read"], requester="Alice")
    refuses(make, "requester", "k", scopes=["read"], requester="ext:telegram:1")
    refuses(make, "categories", "k", scopes=["read"], categories=["nonsense"])
    refuses(make, "categories", "k", scopes=["read"], categories="goal")
    for days in (0, -1, True, 1.5, 10**9):
        refuses(make, "expires_days", "k", scopes=["read"], expires_days=days)
    for rate in (0, "5", 10**12):
        refuses(make, "rate_per_minute", "k", scopes=["read"], rate_per_minute=rate)
    refuses(any_memory.keys.revoke, "id", 5)


# Chats that nobody vouches for


def test_a_group_is_one_for_those_whom_the_store_knows_to_be_there(light: Memory) -> None:
    light.chats.join(TEAM, ALICE.key)
    assert light.chats.resolve(ALICE, TEAM) == Chat(TEAM, ChatKind.GROUP, vouched=False)
    for chat in (light.chats.resolve(BOB, TEAM), light.chats.resolve(BOB, "telegram:-999")):
        assert chat.kind is ChatKind.UNKNOWN
    assert light.space("other").chats.resolve(ALICE, TEAM).kind is ChatKind.UNKNOWN
    light.admin.link(BOB.key, "acct:7")
    light.chats.join(TEAM, "acct:7")
    assert light.chats.resolve(BOB, TEAM).kind is ChatKind.GROUP
    light.admin.unlink(BOB.key)
    assert light.chats.resolve(BOB, TEAM).kind is ChatKind.UNKNOWN
    robot = tacit.Requester(ALICE.key, is_bot=True)
    assert light.chats.resolve(robot, TEAM).kind is ChatKind.UNKNOWN


def test_a_private_chat_is_that_of_whom_it_is_known_to_be(light: Memory) -> None:
    carol = tacit.Requester("slack:T1:U3")
    light.view(carol, Chat.private("slack:T1:D7")).remember("tea")
    assert light.chats.resolve(carol, "slack:T1:D7").kind is ChatKind.PRIVATE
    assert light.chats.resolve(BOB, "slack:T1:D7").kind is ChatKind.UNKNOWN
    assert light.chats.resolve(carol, "slack:T1:D8").kind is ChatKind.UNKNOWN
    assert light.chats.resolve(BOB, BOB.key).kind is ChatKind.PRIVATE
    assert light.chats.resolve(BOB, ALICE.key).kind is ChatKind.UNKNOWN
    with pytest.raises(tacit.InvalidInput):
        light.chats.resolve(BOB, "nonsense")


def test_whoever_left_meanwhile_hears_nothing_and_is_not_back_by_writing(memory: Memory) -> None:
    group(memory, ALICE).remember("standup at 9", visibility="room", sensitivity="public")
    memory.chats.join(TEAM, BOB.key)
    view = memory.view(BOB, memory.chats.resolve(BOB, TEAM))
    assert said(view.list()) == ["standup at 9"]
    memory.chats.leave(TEAM, BOB.key)
    assert said(view.list()) == []
    view.remember("let me in")
    view.learn([tacit.Message("user", "My sister is called Ana")])
    memory.jobs.wait_for_learning()
    assert said(view.list()) == []
    assert memory.chats.resolve(BOB, TEAM).kind is ChatKind.UNKNOWN
    assert said(group(memory, ALICE, here=[ALICE]).list()) == ["standup at 9"]


def test_writing_where_nobody_vouches_makes_nobody_a_member(light: Memory) -> None:
    light.admin.link(BOB.key, "acct:7")
    light.chats.join(TEAM, "acct:7")
    light.view(BOB, light.chats.resolve(BOB, TEAM)).remember("lunch at 1")
    light.admin.unlink(BOB.key)
    assert light.chats.resolve(BOB, TEAM).kind is ChatKind.UNKNOWN
    assert light.chats.resolve(tacit.Requester("acct:7"), TEAM).kind is ChatKind.GROUP


def test_what_is_written_where_nobody_vouches_is_said_in_the_room(light: Memory) -> None:
    for who in (ALICE, BOB):
        light.chats.join(TEAM, who.key)
    view = light.view(BOB, light.chats.resolve(BOB, TEAM))
    view.remember("lunch at 1", visibility="room", sensitivity="public")
    assert said(group(light, ALICE).list()) == ["lunch at 1"]
    claimed = Chat(TEAM, ChatKind.GROUP, ("telegram:3003",), True, vouched=False)
    light.view(BOB, claimed).remember("and tea", visibility="room", sensitivity="public")
    assert light.chats.resolve(tacit.Requester("telegram:3003"), TEAM).kind is ChatKind.UNKNOWN
    assert light.chats.resolve(ALICE, TEAM).kind is ChatKind.GROUP
