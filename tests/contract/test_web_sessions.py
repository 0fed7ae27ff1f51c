"""Signing in: a link that works once, and a sitting that ends by itself."""

import hashlib
import re
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, select

import tacit
from bench.plans import plans_of, recorded
from tacit import Chat, Requester, limits
from tacit.errors import SignInRefused
from tacit.memory import Memory
from tacit.records.accounts import SignedIn, WebSession
from tacit.settings import ConsoleSettings, Settings
from tacit.storage import auth as stored
from tacit.storage.schema import sign_in_links, web_sessions
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, SetClock, private, said
from tests.contract.test_linking import at_once
from tests.contract.traces import ERASE_ALL

LINK = re.compile(r"tcl_([A-Za-z0-9]{12})_([A-Za-z0-9_-]{43})")
COOKIE = re.compile(r"tcs_([A-Za-z0-9]{12})_([A-Za-z0-9_-]{43})")


def rows(memory: Memory) -> list[dict[str, Any]]:
    with memory._storage.database.read() as connection:
        return [
            dict(row._mapping) for table in (sign_in_links, web_sessions) for row in connection.execute(select(table))
        ]


def came(memory: Memory, who: Requester = ALICE) -> str:
    """Signs in, and says by which cookie they are known."""
    return memory.console.sign_in(memory.console.create_link(person=who.key).token).cookie


def sees(memory: Memory, cookie: str) -> list[str]:
    """What their page lists."""
    sitting = memory.console.session(cookie)
    assert sitting is not None
    assert sitting.person is not None
    here = memory.space(sitting.space)
    return said(here.view(Requester(sitting.person), Chat.private(sitting.person)).list())


def test_a_link_signs_in_whom_it_was_made_for_and_once(memory: Memory, clock: SetClock) -> None:
    acme = memory.space("acme")
    offered = acme.console.create_link(person="telegram:1001")
    assert (offered.expires_at - clock.now).total_seconds() == 600
    signed = memory.console.sign_in(offered.token)  # it finds its space
    sitting = signed.sitting
    assert (sitting.space, sitting.person, sitting.operator) == ("acme", "telegram:1001", None)
    assert (sitting.created_at, sitting.seen_at) == (clock.now, clock.now)
    assert (sitting.expires_at - clock.now).total_seconds() == 12 * 3_600
    assert memory.console.session(signed.cookie) == acme.console.session(signed.cookie) == sitting
    for space in (memory, acme):
        with pytest.raises(SignInRefused):
            space.console.sign_in(offered.token)
    assert memory.console.session(signed.cookie) == sitting
    ada = memory.console.sign_in(memory.console.create_link(operator="ada").token)
    assert (ada.sitting.person, ada.sitting.operator) == (None, "ada")
    assert memory.console.session(ada.cookie) == ada.sitting


def test_unknown_used_and_expired_links_are_refused_alike(memory: Memory, clock: SetClock) -> None:
    old = memory.console.create_link(person=ALICE.key, minutes=1).token
    used = memory.console.create_link(person=ALICE.key).token
    memory.console.sign_in(used)
    good = memory.console.create_link(person=ALICE.key)
    clock.forward(seconds=60)
    id, secret = LINK.fullmatch(good.token).groups()  # type: ignore[union-attr]
    key = memory.keys.create("k", scopes=["read"]).token
    cookie = came(memory)
    told = set()
    for token in (old, used, f"tcl_AAAAAAAAAAAA_{secret}", f"tcl_{id}_{'A' * 43}", key, cookie):
        with pytest.raises(SignInRefused) as refused:
            memory.console.sign_in(token)
        told.add(str(refused.value))
    assert len(told) == 1
    memory.console.sign_in(good.token)


def test_secrets_are_shown_once_and_only_their_hashes_are_kept(memory: Memory) -> None:
    offered = memory.console.create_link(person=ALICE.key)
    waiting = memory.console.create_link(person=ALICE.key)
    signed = memory.console.sign_in(offered.token)
    secrets = [
        LINK.fullmatch(offered.token)[2],  # type: ignore[index]
        LINK.fullmatch(waiting.token)[2],  # type: ignore[index]
        COOKIE.fullmatch(signed.cookie)[2],  # type: ignore[index]
    ]
    kept = rows(memory)
    hashes = [hashlib.sha256(one.encode()).digest() for one in secrets]
    assert {bytes(row["digest"]) for row in kept} == set(hashes[1:])
    told = repr((offered, waiting, signed, kept))
    assert not [one for one in secrets if one in told]
    assert len({*secrets}) == 3


def test_of_several_who_use_a_link_at_the_same_moment_one_is_signed_in(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    for _ in range(3):
        token = memories[0].console.create_link(person=ALICE.key).token
        told = at_once(*(partial(memories[n % 2].console.sign_in, token) for n in range(6)))
        assert told.count(SignInRefused) == 5
        assert sum(isinstance(one, SignedIn) for one in told) == 1
    assert len(rows(memories[0])) == 3


def test_who_does_nothing_for_too_long_is_signed_out_and_everybody_in_the_end(memory: Memory, clock: SetClock) -> None:
    cookie = came(memory)
    for _ in range(12 * 4 - 1):
        clock.forward(seconds=15 * 60)
        found = memory.console.session(cookie)
        assert found is not None
        assert found.seen_at == clock.now
    clock.forward(seconds=15 * 60)
    assert memory.console.session(cookie) is None
    idle = came(memory)
    clock.forward(seconds=30 * 60)
    assert memory.console.session(idle) is None
    clock.forward(seconds=-1)
    assert memory.console.session(idle) is not None  # it was not touched by being refused
    clock.forward(days=-365)  # a clock that leapt leaves nobody signed in for longer
    assert memory.console.session(idle) is None


def test_how_long_links_and_sittings_last_is_a_setting(database_url: str, opened: Open, clock: SetClock) -> None:
    console = ConsoleSettings(link_minutes=2, idle_minutes=5, session_hours=1)
    memory = opened(database_url, settings=replace(Settings(), console=console))
    offered = memory.console.create_link(person=ALICE.key)
    assert (offered.expires_at - clock.now).total_seconds() == 120
    signed = memory.space("acme").console.sign_in(offered.token)
    assert (signed.sitting.expires_at - clock.now).total_seconds() == 3_600
    clock.forward(seconds=300)
    assert memory.console.session(signed.cookie) is None


def test_being_there_is_noted_at_most_once_a_minute_and_a_busy_database_signs_nobody_out(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie, noted, ordinary = came(memory), list[object](), stored.touch_web_session

    def see(*given: Any) -> bool:
        noted.append(given)
        return ordinary(*given)

    monkeypatch.setattr(stored, "touch_web_session", see)
    for _ in range(12):
        clock.forward(seconds=10)
        assert memory.console.session(cookie) is not None
    assert len(noted) == 2
    clock.forward(seconds=61)

    def busy(*_: object) -> bool:
        raise tacit.StoreBusy("busy")

    monkeypatch.setattr(type(memory._storage.database), "write", busy)
    found = memory.console.session(cookie)
    assert found is not None
    assert found.seen_at < clock.now


def test_signing_out_ends_one_sitting_and_signing_out_everywhere_all_of_theirs_and_their_links(memory: Memory) -> None:
    memory.admin.link(ALICE.key, "acct:7")
    gone, *cookies = came(memory), came(memory), came(memory, Requester("acct:7"))
    memory.space("other").console.sign_out(gone)
    memory.console.sign_out(gone)
    memory.console.sign_out("nonsense")
    assert memory.console.session(gone) is None
    link = memory.console.create_link(person="acct:7").token
    bobs, ada = (came(memory, BOB), memory.console.sign_in(memory.console.create_link(operator="ada").token))
    elsewhere = came(memory.space("acme"))
    assert memory.console.sign_out_everywhere(person=ALICE.key) == 2
    assert [memory.console.session(one) for one in cookies] == [None, None]
    with pytest.raises(SignInRefused):
        memory.console.sign_in(link)
    for cookie in (bobs, ada.cookie, elsewhere):
        assert memory.console.session(cookie) is not None
    link = memory.console.create_link(operator="ada").token
    assert memory.console.sign_out_everywhere(operator="grace") == 0
    assert memory.console.sign_out_everywhere(operator="ada") == 1
    assert memory.console.session(ada.cookie) is None
    with pytest.raises(SignInRefused):
        memory.console.sign_in(link)
    assert memory.console.session(bobs) is not None


def test_who_signs_out_while_they_are_looked_up_stays_out(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie, ordinary = came(memory), stored.touch_web_session
    clock.forward(seconds=61)

    def see(connection: Any, one: WebSession, at: Any) -> bool:
        stored.end_web_session(connection, one)
        return ordinary(connection, one, at)

    monkeypatch.setattr(stored, "touch_web_session", see)
    assert memory.console.session(cookie) is None


def test_only_so_many_links_wait_and_sittings_last_for_one_person(memory: Memory, clock: SetClock) -> None:
    bobs, cookies = memory.console.create_link(person=BOB.key).token, []
    for _ in range(limits.WEB_SESSIONS_MAX_COUNT + 1):
        clock.forward(seconds=1)
        cookies.append(came(memory))
    assert memory.console.session(cookies[0]) is None
    assert all(memory.console.session(one) is not None for one in cookies[1:])
    links = []
    for _ in range(limits.SIGN_INS_MAX_COUNT + 1):
        clock.forward(seconds=1)
        links.append(memory.console.create_link(person=ALICE.key).token)
    with pytest.raises(SignInRefused):
        memory.console.sign_in(links[0])
    for token in (*links[1:], bobs):
        memory.console.sign_in(token)


def test_a_sitting_sees_what_its_person_may_see_now(memory: Memory) -> None:
    account = Requester("acct:7")
    private(memory, account).remember("the account sails")
    private(memory, ALICE).remember("Alice skis")
    private(memory, BOB).remember("Bob swims")
    cookie = came(memory)
    assert sees(memory, cookie) == ["Alice skis"]
    memory.admin.link(ALICE.key, "acct:7")
    assert sees(memory, cookie) == ["Alice skis", "the account sails"]
    memory.admin.unlink(ALICE.key)
    assert sees(memory, cookie) == ["Alice skis"]


@pytest.mark.parametrize("act", [*ERASE_ALL, "forget"])
def test_who_is_erased_or_forgotten_is_signed_out(memory: Memory, act: str) -> None:
    memory.admin.link(ALICE.key, "acct:7")
    private(memory, ALICE).remember("tea")
    cookies = [came(memory), came(memory, Requester("acct:7"))]
    links = [memory.console.create_link(person=one).token for one in (ALICE.key, "acct:7")]
    bobs, elsewhere = came(memory, BOB), came(memory.space("acme"))
    _ = memory.admin.forget_person(ALICE.key) if act == "forget" else ERASE_ALL[act](memory)
    assert [memory.console.session(one) for one in cookies] == [None, None]
    for token in links:
        with pytest.raises(SignInRefused):
            memory.console.sign_in(token)
    assert (memory.console.session(bobs) is None) is (act == "space")
    assert memory.console.session(elsewhere) is not None
    assert len(rows(memory)) == (1 if act == "space" else 2)
    assert ("default" in memory.spaces()) is (act != "space")


def test_what_is_over_is_cleared_away(memory: Memory, clock: SetClock) -> None:
    came(memory)
    memory.console.create_link(person=ALICE.key)
    memory.jobs.run("expire")
    assert len(rows(memory)) == 2
    clock.forward(seconds=600)
    memory.jobs.run("expire")
    assert len(rows(memory)) == 1
    clock.forward(seconds=12 * 3_600)
    memory.jobs.run("expire")
    assert rows(memory) == []


def test_a_link_is_for_one_person_or_one_operator(memory: Memory) -> None:
    for word in (memory.console.create_link, memory.console.sign_out_everywhere):
        refuses(word, "person")
        refuses(word, "person", person=ALICE.key, operator="ada")
        refuses(word, "person", person="Alice")
        refuses(word, "person", person="person:k3Xq81Zb")
        refuses(word, "person", person=5)
        refuses(word, "operator", operator="")
    for minutes in (0, True, 1.5, "5", limits.SIGN_IN_MAX_MINUTES + 1):
        refuses(memory.console.create_link, "minutes", person=ALICE.key, minutes=minutes)
    assert rows(memory) == []


def test_whatever_is_no_cookie_or_not_quite_one_opens_nothing(memory: Memory) -> None:
    for nonsense in (None, "", 5, b"tcs_", "tcs_", "\ud800", "tcs_" + "A" * 56, ["x"]):
        assert memory.console.session(nonsense) is None
        memory.console.sign_out(nonsense)
        with pytest.raises(SignInRefused):
            memory.console.sign_in(nonsense)
    cookie, other = came(memory), came(memory)
    id, secret = COOKIE.fullmatch(other).groups()  # type: ignore[union-attr]
    for near in (
        cookie[:-1] + ("A" if cookie[-1] != "A" else "B"),
        cookie + "\n",
        f" {cookie}",
        cookie.replace("tcs_", "tcl_"),
        f"tcs_{COOKIE.fullmatch(cookie)[1]}_{secret}",  # type: ignore[index]
        f"tcs_{id}_{'A' * 43}",
    ):
        assert memory.console.session(near) is None
        memory.console.sign_out(near)
    assert memory.console.session(cookie) is not None
    assert memory.console.session(other) is not None


def test_nobody_waits_for_the_links_and_sittings_of_others(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    others = [
        {
            "space_id": "default",
            "id": f"{n:012}",
            "digest": bytes(32),
            "person": None if n % 2 else f"ext:telegram:{n}",
            "operator": f"operator {n}" if n % 2 else None,
            "created_at": n,
            "expires_at": 2**60,
        }
        for n in range(2_000)
    ]
    memory._storage.database.write(
        lambda c: [
            c.execute(insert(sign_in_links), others),
            c.execute(insert(web_sessions), [one | {"seen_at": one["created_at"]} for one in others]),
        ]
    )
    memory.admin.maintain()  # which counts them
    with recorded(memory) as ran:
        whose: list[dict[str, Any]] = [{"person": ALICE.key}, {"operator": "ada"}]
        for who in whose:
            cookie = memory.console.sign_in(memory.console.create_link(**who).token).cookie
            assert memory.console.session(cookie) is not None
            memory.console.sign_out(cookie)
            memory.console.sign_out_everywhere(**who)
    ours = [
        one for one in ran if re.search(r"sign_in_links|web_sessions", one.sql) and not one.sql.startswith("INSERT")
    ]
    assert len(ours) >= 16
    with closing(plans_of(shared_url)) as plans:
        assert [step for one in ours for step in plans.too_wide(one)] == []
