"""Admission: what a key is bound to decides whose view its holder gets, whatever they claim."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import ChatKind, InvalidInput, NotAllowed, Requester, Scope, TooManyRequests
from tacit.errors import KeyRefused
from tacit.memory import Memory, View
from tacit.server.authentication import Caller, Claims, RateLimiter, authenticate, local_person, parse_claims
from tacit.settings import MemorySettings, Settings

PEOPLE = ("telegram:1001", "telegram:2002", "slack:T1:U3", "acct:42", "telegram:42")
ROOMS = {
    "telegram:-1": {"telegram:1001", "telegram:2002"},
    "telegram:-2": {"telegram:2002", "slack:T1:U3"},
    "telegram:-3": {"telegram:1001"},  # telegram:2002 was there, and left
    "telegram:-30": {"telegram:1001"},  # as it was called before
    "slack:T1:C5": {"acct:42"},
}
# Chats that are nobody's, or one person's alone.
OTHERS = ("telegram:-9", "slack:T1:C9", "web:1", "slack:T1:D7")
SAME = {"telegram:42": "acct:42"}  # by a link
LOCAL = Requester("telegram:1001")


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    """Everybody has said something in each room they are in, and in private."""
    with tacit.open("sqlite://", embedder=None, settings=Settings()) as opened:
        opened.chats.join("telegram:-30", "telegram:1001")
        opened.chats.migrate("telegram:-30", "telegram:-3")
        for room, members in ROOMS.items():
            for member in sorted(members):
                opened.chats.join(room, member)
                chat = tacit.Chat.group(room, sorted(members))
                said = opened.view(Requester(member), chat)
                said.remember(f"{member} in {room}", visibility="room", sensitivity="public")
        opened.chats.join("telegram:-3", "telegram:2002")
        opened.chats.leave("telegram:-3", "telegram:2002")
        opened.admin.link("telegram:42", "acct:42")
        for person in PEOPLE:
            own = opened.view(Requester(person), tacit.Chat.private(person))
            own.remember(f"secret of {person}")
        known = tacit.Chat.private("slack:T1:D7")
        opened.view(Requester("slack:T1:U3"), known).remember("in a direct message")
        yield opened


def of(memory: Memory, token: str | None, **claims: object) -> Caller:
    return authenticate(memory, replace(Claims(token=token), **claims))  # type: ignore[arg-type]


def token(memory: Memory, *scopes: Scope | str, **bound: object) -> str:
    made = memory.keys.create("k", scopes=scopes or ("read", "write"), **bound)  # type: ignore[arg-type]
    return made.token


def view_of(admitted: Caller) -> View:
    view = admitted.view()
    assert isinstance(view, View)
    return view


def said(view: View) -> set[str]:
    return {one.content for one in view.list(limit=100)}


PLAIN = st.builds(
    Claims,
    requester=st.none() | st.sampled_from(PEOPLE),
    chat=st.none() | st.sampled_from((*PEOPLE, *ROOMS, *OTHERS)),
    agent=st.none() | st.just("planner"),
)
CLAIMS = PLAIN | st.builds(
    lambda plain, **more: replace(plain, **more),
    PLAIN,
    name=st.none() | st.just("Bob"),
    kind=st.none() | st.sampled_from(ChatKind),
    participants=st.none() | st.lists(st.sampled_from(PEOPLE).map(Requester), max_size=3).map(tuple),
    complete=st.none() | st.booleans(),
)


@given(person=st.sampled_from(PEOPLE), claims=CLAIMS)
def test_a_key_of_one_person_never_gets_anybody_elses_view(
    memory: Memory, tokens: dict[str, str], person: str, claims: Claims
) -> None:
    """Nor that of a room they are not in, whatever they claim."""
    try:
        admitted = authenticate(memory, replace(claims, token=tokens[person]), local=LOCAL)
    except NotAllowed:
        return
    assert claims.requester in (None, person)
    assert (claims.name, claims.kind, claims.participants, claims.complete) == (None,) * 4
    assert admitted.requester == Requester(person)
    head = SAME.get(person, person)
    view = view_of(admitted)
    heard = said(view)
    if claims.chat in (None, person) or claims.chat not in ROOMS:
        assert claims.chat in (None, person, SAME.get(person), "slack:T1:D7", "telegram:42")
        own = {one for one in PEOPLE if SAME.get(one, one) == head}
        secrets = {one for one in heard if one.startswith("secret of")}
        assert secrets == {f"secret of {one}" for one in own}
    else:
        assert head in ROOMS[claims.chat]
        rooms = {"telegram:-3", "telegram:-30"} if "-3" in claims.chat else {claims.chat}
        assert {one.partition(" in ")[2] for one in heard} <= rooms
        vouched = tacit.Chat.group(claims.chat, [person])
        direct = memory.view(Requester(person), vouched)
        assert isinstance(direct, View)
        assert heard == said(direct)


@pytest.fixture(scope="module")
def tokens(memory: Memory) -> dict[str, str]:
    return {person: token(memory, requester=person) for person in PEOPLE}


def test_one_is_let_into_ones_own_rooms(memory: Memory, tokens: dict[str, str]) -> None:
    """So that the test above does not hold because nobody is."""
    for room, members in ROOMS.items():
        for person in PEOPLE:
            if SAME.get(person, person) in members:
                admitted = of(memory, tokens[person], chat=room)
                assert f"{SAME.get(person, person)} in {room}" in said(view_of(admitted)), room
            else:
                with pytest.raises(NotAllowed):
                    of(memory, tokens[person], chat=room)
    own = of(memory, tokens["slack:T1:U3"], chat="slack:T1:D7")
    assert own.chat is not None
    assert own.chat.kind is ChatKind.PRIVATE


def test_a_room_that_there_is_and_one_that_there_is_not_are_refused_alike(
    memory: Memory, tokens: dict[str, str]
) -> None:
    refusals = []
    for chat in ("telegram:-2", "telegram:-9", "telegram:2002", "web:1", "slack:T1:D7"):
        with pytest.raises(NotAllowed) as refused:
            of(memory, tokens["telegram:1001"], chat=chat)
        refusals.append(str(refused.value))
    for named in ({"requester": "telegram:2002"}, {"requester": "telegram:9"}, {"name": "Bob"}):
        with pytest.raises(NotAllowed) as refused:
            of(memory, tokens["telegram:1001"], **named)
        refusals.append(str(refused.value))
    assert len(set(refusals)) == 1


def test_an_adapter_says_who_asks_and_who_is_there(memory: Memory) -> None:
    key = token(memory, "read", "write", "act-as")
    admitted = of(memory, key, requester="telegram:1001", name="Alice", username="alice")
    assert admitted.requester == Requester("telegram:1001", "Alice", "alice")
    assert admitted.chat == tacit.Chat.private("telegram:1001")
    here = (Requester("telegram:1001"), Requester("telegram:2002"))
    in_group = of(memory, key, requester="telegram:1001", chat="telegram:-1", participants=here, complete=True)
    assert in_group.chat == tacit.Chat.group("telegram:-1", here, complete=True)
    elsewhere = of(memory, key, requester="telegram:1001", chat="web:7", kind=ChatKind.UNKNOWN)
    assert elsewhere.chat == tacit.Chat.unknown("web:7")


def test_an_adapter_that_names_nobody_has_no_view(memory: Memory) -> None:
    with pytest.raises(InvalidInput) as refused:
        of(memory, token(memory, "read", "act-as")).view()
    assert refused.value.field == "requester"
    bound = of(memory, token(memory, "read", "act-as", requester="telegram:1001"))
    assert bound.requester == Requester("telegram:1001")


def test_a_key_for_nobody_is_let_in_and_has_no_view(memory: Memory) -> None:
    admitted = of(memory, token(memory, "admin"))
    admitted.require_scopes(Scope.ADMIN)
    with pytest.raises(NotAllowed):
        admitted.view()
    for named in ({"requester": "telegram:1001"}, {"chat": "telegram:-1"}):
        with pytest.raises(NotAllowed):
            of(memory, token(memory, "admin", "read", "write", "erase"), **named)


@given(st.sets(st.sampled_from(Scope), min_size=1))
def test_a_scope_is_had_only_if_it_was_given(memory: Memory, scopes: set[Scope]) -> None:
    admitted = of(memory, token(memory, *scopes, requester="telegram:1001"))
    for scope in Scope:
        assert admitted.has_scope(scope) is (scope in scopes)
        if scope in scopes:
            admitted.require_scopes(scope)
        else:
            with pytest.raises(NotAllowed):
                admitted.require_scopes(*scopes, scope)


def test_the_agent_of_a_key_is_the_agent(memory: Memory) -> None:
    bound = token(memory, requester="telegram:1001", agent="planner")
    assert of(memory, bound).agent == of(memory, bound, agent="planner").agent == "planner"
    with pytest.raises(NotAllowed):
        of(memory, bound, agent="coach")
    assert of(memory, token(memory, requester="telegram:1001"), agent="coach").agent == "coach"


def test_a_key_leads_to_its_own_space_alone(memory: Memory) -> None:
    other = memory.space("elsewhere")
    found = of(memory, token(other, requester="telegram:1001"))
    assert said(view_of(found)) == set()
    view_of(found).remember("said elsewhere")
    assert said(view_of(of(other, token(memory, requester="telegram:1001")))) >= {"secret of telegram:1001"}
    assert said(view_of(found)) == {"said elsewhere"}


def test_without_a_key_only_the_local_person_is_let_in(memory: Memory) -> None:
    for claims in (Claims(), parse_claims({"host": "localhost:8377"}), Claims(chat=LOCAL.key)):
        admitted = authenticate(memory, claims, local=LOCAL)
        assert (admitted.is_local, admitted.requester) == (True, LOCAL)
        assert admitted.scopes == {Scope.READ, Scope.WRITE, Scope.ERASE}
        assert "secret of telegram:1001" in said(view_of(admitted))
    with pytest.raises(KeyRefused):
        authenticate(memory, Claims())
    for headers in ({"host": "memory.example.org"}, {"host": "localhost", "via": "1.1 proxy"}):
        with pytest.raises(KeyRefused):
            authenticate(memory, parse_claims(headers), local=LOCAL)


@given(claims=CLAIMS)
def test_the_local_person_speaks_in_private_and_for_themselves(memory: Memory, claims: Claims) -> None:
    try:
        admitted = authenticate(memory, claims, local=LOCAL)
    except NotAllowed:
        return
    assert admitted.requester is not None
    assert (admitted.requester.key, admitted.chat) == (LOCAL.key, tacit.Chat.private(LOCAL.key))


def test_the_local_person_is_that_of_the_settings() -> None:
    assert local_person(Settings()).key == "local:me"
    named = Settings(memory=MemorySettings(local_person="telegram:7"))
    assert local_person(named).key == "telegram:7"


def test_a_key_that_is_no_good_is_not_made_good_by_being_local(memory: Memory) -> None:
    for written in ("Bearer nonsense", "Bearer ", "Basic eDp5", ""):
        with pytest.raises(KeyRefused):
            authenticate(memory, parse_claims({"authorization": written}), local=LOCAL)


def test_what_is_wrong_with_a_request_is_told_to_those_who_are_let_in(memory: Memory) -> None:
    wrong = {"x-tacit-complete": "perhaps"}
    with pytest.raises(KeyRefused):
        authenticate(memory, parse_claims(wrong))
    good = {"authorization": f"Bearer {token(memory, requester='telegram:1001')}"}
    with pytest.raises(InvalidInput):
        authenticate(memory, parse_claims(wrong | good))


def test_each_key_is_limited_by_itself_and_by_its_own_rate(memory: Memory) -> None:
    limiter = RateLimiter(10, clock=lambda: 0.0)
    slow = token(memory, requester="telegram:1001")
    quick = token(memory, requester="telegram:1001", rate_per_minute=30)
    for key, most in ((slow, 1), (quick, 3), (None, 1)):
        claims = Claims(token=key)
        for _ in range(most):
            authenticate(memory, claims, local=LOCAL, limiter=limiter)
        with pytest.raises(TooManyRequests):
            authenticate(memory, claims, local=LOCAL, limiter=limiter)


def test_a_stranger_uses_up_nobodys_rate(memory: Memory) -> None:
    limiter = RateLimiter(10, clock=lambda: 0.0)
    for _ in range(5):
        with pytest.raises(KeyRefused):
            authenticate(memory, Claims(token="nonsense"), local=LOCAL, limiter=limiter)
    authenticate(memory, Claims(), local=LOCAL, limiter=limiter)


def test_a_narrowed_key_gives_a_narrowed_view(memory: Memory) -> None:
    key = token(memory, requester="telegram:1001", categories=["goal"])
    view = view_of(of(memory, key))
    assert said(view) == set()
    view.remember("climb", category="goal")
    assert said(view) == {"climb"}
    with pytest.raises(InvalidInput):
        view.remember("a fact", category="fact")
