"""Who is let in: keys, claims in headers, hosts and origins, and how often."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import ChatKind, InvalidInput, NotAllowed, Requester, Scope, TooManyRequests, limits
from tacit.errors import KeyRefused
from tacit.memory import Memory, View
from tacit.server.authentication import (
    CLAIM_HEADERS,
    Caller,
    Claims,
    RateLimiter,
    allowed_hosts,
    allowed_origins,
    authenticate,
    is_host_allowed,
    is_loopback,
    is_origin_allowed,
    parse_claims,
)
from tacit.settings import ConsoleSettings, ServerSettings, Settings

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


# Headers as claims: read as they are written, or refused


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()
)


def test_everything_that_can_be_said_is_read() -> None:
    claims = parse_claims(
        {
            "Authorization": "Bearer tct_a_b",
            "X-Tacit-Requester": "telegram:1001",
            "X-Tacit-Name": "Zo%C3%AB",
            "X-Tacit-Username": "zoe",
            "X-Tacit-Chat": "telegram:-5",
            "X-Tacit-Chat-Kind": "Group",
            "X-Tacit-Participants": "telegram:2;Bob;bob_l, slack:T1:U2",
            "X-Tacit-Complete": "true",
            "X-Tacit-Thread": "a%20b",
            "X-Tacit-Agent": "planner",
            "Host": "localhost:8377",
        }
    )
    assert claims == Claims(
        token="tct_a_b",
        requester="telegram:1001",
        name="Zoë",
        username="zoe",
        chat="telegram:-5",
        kind=ChatKind.GROUP,
        participants=(Requester("telegram:2", "Bob", "bob_l"), Requester("slack:T1:U2")),
        complete=True,
        thread="a b",
        agent="planner",
    )


def test_what_is_not_said_is_none_and_a_token_is_never_shown() -> None:
    assert parse_claims([]) == Claims()
    assert "secret" not in repr(parse_claims({"authorization": "Bearer secret"}))


@pytest.mark.parametrize(
    ("written", "token"), [("Bearer  x ", "x"), ("bearer x", "x"), ("Basic x", ""), ("x", ""), ("", ""), ("Bearer", "")]
)
def test_only_a_bearer_token_is_one_and_anything_else_opens_nothing(written: str, token: str) -> None:
    assert parse_claims([("authorization", written)]).token == token


def test_two_of_a_kind_are_refused() -> None:
    twice = [("Authorization", "Bearer a"), ("authorization", "Bearer b")]
    assert parse_claims(twice).token == ""
    for name in CLAIM_HEADERS:
        claims = parse_claims([(name, "telegram:1"), (name.upper(), "telegram:1")])
        assert isinstance(claims.error, InvalidInput), name


@pytest.mark.parametrize(
    ("header", "value", "field"),
    [("x-tacit-chat-kind", "channel", "kind"), ("x-tacit-complete", "yes", "complete"),
     ("x-tacit-name", "Zoë", "name"), ("x-tacit-name", "%ff", "name"),
     ("x-tacit-thread", "%ed%a0%80", "thread"),
     ("x-tacit-participants", "telegram:2;a;b;c", "participants"),
     ("x-tacit-participants", "telegram:2," * 20_000, "participants")],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_field(header: str, value: str, field: str) -> None:
    wrong = parse_claims([(header, value)]).error
    assert isinstance(wrong, InvalidInput)
    assert wrong.field == field


@given(TEXT, TEXT, TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_any_text_travels(name: str, thread: str, agent: str, here: list[tuple[str, str]]) -> None:
    headers = {
        "x-tacit-name": quote(name, safe=""),
        "x-tacit-thread": quote(thread, safe=""),
        "x-tacit-agent": quote(agent, safe=""),
        "x-tacit-participants": ",".join(f"{quote(key, safe='')};{quote(called, safe='')}" for key, called in here),
    }
    claims = parse_claims(headers)
    assert (claims.name, claims.thread, claims.agent) == (name, thread, agent)
    assert claims.participants == tuple(Requester(key, called) for key, called in here)


@given(st.lists(st.tuples(st.sampled_from([*CLAIM_HEADERS, "authorization", "host"]), st.text())))
def test_reading_never_fails(headers: list[tuple[str, str]]) -> None:
    assert isinstance(parse_claims(headers), Claims)


@pytest.mark.parametrize(
    "headers",
    [{"host": "memory.example.org"}, {"host": ""}, {"host": "localhost", "via": "1.1 proxy"},
     {"host": "localhost", "X-Forwarded-For": "10.0.0.1"}, {"forwarded": "for=10.0.0.1"},
     {"host": "127.0.0.1:8377", "x-real-ip": "127.0.0.1"}, {"x-forwarded-host": "localhost"}],
)  # fmt: skip
def test_what_may_have_come_from_another_machine_counts_as_such(headers: dict[str, str]) -> None:
    assert parse_claims(headers).remote


def test_what_comes_under_a_name_of_this_machine_does_not() -> None:
    for host in ("localhost", "127.0.0.1:8377", "[::1]:8377"):
        assert not parse_claims({"host": host}).remote


def test_a_body_names_the_agent_and_does_not_contradict_the_headers() -> None:
    assert parse_claims({}).with_agent("planner").agent == "planner"
    claims = parse_claims({"x-tacit-agent": "planner"})
    assert claims.with_agent("planner") == claims
    wrong = claims.with_agent("coach").error
    assert isinstance(wrong, InvalidInput)
    assert wrong.field == "agent"


# Host and Origin: a web page must not reach a memory through somebody's browser


OURS = frozenset({"localhost", "127.0.0.1", "[::1]", "memory.example.org"})


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8377", "127.0.0.1:1", "[::1]", "[::1]:8377", "memory.example.org:443"]
)
def test_our_own_names_are_answered_on_any_port(host: str) -> None:
    assert is_host_allowed(host, OURS)


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "localhost.evil.example", "evil.example:8377", "localhost@evil",
     "memory.example.org.", "localhost:", "localhost:80:80", "::1", "[::1", "a b", "localhost\n",
     "localhost:8377\n", "localhost:٣"],
)  # fmt: skip
def test_no_other_name_is_answered(host: str | None) -> None:
    assert not is_host_allowed(host, OURS)


def test_the_names_are_those_of_this_machine_the_bind_and_the_settings() -> None:
    own = {"localhost", "127.0.0.1", "[::1]"}
    assert allowed_hosts(Settings()) == own
    for host, more in (("0.0.0.0", set()), ("::", set()), ("10.0.0.5", {"10.0.0.5"}), ("fd00::5", {"[fd00::5]"})):
        assert allowed_hosts(Settings(server=ServerSettings(host=host))) == own | more
    named = replace(Settings(), server=ServerSettings(allowed_hosts=("memory.example.org",)))
    assert allowed_hosts(named) == OURS


def test_where_people_reach_the_console_is_let_in_as_long_as_there_is_one() -> None:
    for url, host in (
        ("https://memory.example.org", "memory.example.org"),
        ("https://memory.example.org:8443", "memory.example.org"),
        ("http://[fd00::5]:80", "[fd00::5]"),
    ):
        there = Settings(console=ConsoleSettings(url=url))
        assert allowed_hosts(there) == {"localhost", "127.0.0.1", "[::1]", host}
        assert allowed_origins(there) == {url}
        assert is_origin_allowed(url, host, allowed=allowed_origins(there))
        assert not is_origin_allowed(f"{url}1", host, allowed=allowed_origins(there))
    off = Settings(console=ConsoleSettings(enabled=False, url="https://memory.example.org"))
    assert is_host_allowed("memory.example.org", allowed_hosts(off)) is False
    assert allowed_origins(off) == allowed_origins(Settings()) == frozenset()
    more = Settings(server=ServerSettings(allowed_origins=("https://app.example.org",)))
    assert allowed_origins(more) == {"https://app.example.org"}


@pytest.mark.parametrize(
    ("host", "only_here"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.5", False), ("memory.example.org", False),
     ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here


def test_whoever_sends_no_origin_is_no_web_page() -> None:
    assert is_origin_allowed(None, "localhost:8377")


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [("http://localhost:8377", "localhost:8377", "http"),
     ("HTTP://LOCALHOST:8377", "localhost:8377", "http"),
     ("http://localhost", "localhost:80", "http"),
     ("https://memory.example.org", "memory.example.org", "https"),
     ("https://memory.example.org:443", "memory.example.org", "https"),
     ("http://[::1]:8377", "[::1]:8377", "http")],
)  # fmt: skip
def test_pages_of_our_own_may_ask(origin: str, host: str, scheme: str) -> None:
    assert is_origin_allowed(origin, host, scheme="https" if scheme == "https" else "http")


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://localhost:8378", "https://localhost:8377",
     "http://localhost:8377.evil.example", "http://localhost:8377@evil.example",
     "http://localhost:8377/", "file://", "http://localhost"],
)  # fmt: skip
def test_pages_of_others_may_not(origin: str) -> None:
    assert not is_origin_allowed(origin, "localhost:8377")


# Rates: a bucket for each caller, which fills up again as time goes by


class Watch:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(limiter: RateLimiter, who: str, times: int, rate: int | None = None) -> int:
    """How many of so many requests were answered."""
    count = 0
    for _ in range(times):
        try:
            limiter.take(who, rate)
        except TooManyRequests:
            continue
        count += 1
    return count


def test_a_tenth_of_a_minute_comes_at_once_and_the_rest_by_and_by() -> None:
    watch = Watch()
    limiter = RateLimiter(600, clock=watch)
    assert asked(limiter, "a", 100) == 60
    watch.now += 1
    assert asked(limiter, "a", 100) == 10
    watch.now += 3_600
    assert asked(limiter, "a", 100) == 60


def test_a_refusal_says_when_to_ask_again_and_then_it_is_answered() -> None:
    watch = Watch()
    limiter = RateLimiter(2, clock=watch)
    limiter.take("a")
    with pytest.raises(TooManyRequests) as refused:
        limiter.take("a")
    assert refused.value.retry_after_seconds == 30
    watch.now += refused.value.retry_after_seconds
    limiter.take("a")


def test_a_clock_that_goes_back_gives_nothing() -> None:
    watch = Watch()
    limiter = RateLimiter(60, clock=watch)
    assert asked(limiter, "a", 10) == 6
    watch.now -= 1_000
    assert asked(limiter, "a", 10) == 0


def test_buckets_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATE_BUCKETS_MAX_COUNT", 3)
    limiter = RateLimiter(600, clock=Watch())
    for who in range(10):
        limiter.take(str(who))
    assert len(limiter._buckets) == 3


@given(st.integers(1, 1_000), st.lists(st.floats(0, 20), max_size=60))
def test_no_minute_has_more_than_its_rate_and_a_burst(rate: int, pauses: list[float]) -> None:
    watch = Watch()
    limiter = RateLimiter(rate, clock=watch)
    answered: list[float] = []
    for pause in pauses:
        watch.now += pause
        answered += [watch.now] * asked(limiter, "a", 3)
    for start in answered:
        within = [at for at in answered if start <= at < start + 60]
        assert len(within) <= rate + max(1, rate * limits.RATE_BURST_SHARE)
