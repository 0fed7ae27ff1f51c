"""Links: one person behind several keys, read together, and apart again at once."""

import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import MemorySettings, Settings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, SetClock, get_value, group, kept, private, said

ACCOUNT = tacit.Requester("acct:alice")
PHONE = ALICE
LAPTOP = tacit.Requester("slack:T1:UA")


def test_a_link_lets_the_account_and_its_keys_read_together(memory: Memory) -> None:
    private(memory, PHONE).remember("said on the phone")
    private(memory, LAPTOP).remember("said on the laptop")
    private(memory, ACCOUNT).remember("said on the web")
    memory.admin.link(PHONE.key, "acct:alice")
    memory.admin.link(LAPTOP.key, "acct:alice")
    everything = ["said on the laptop", "said on the phone", "said on the web"]
    for who in (PHONE, LAPTOP, ACCOUNT):
        assert said(private(memory, who).list()) == everything
    id = kept(private(memory, PHONE), "said when linked")
    assert private(memory, ACCOUNT).show(id).owner == "acct:alice"


def test_an_unlink_takes_effect_on_the_very_next_read(memory: Memory) -> None:
    phone, web = private(memory, PHONE), private(memory, ACCOUNT)
    before = kept(phone, "before", category="profile", key="k")
    memory.admin.link(PHONE.key, "acct:alice")
    after = kept(phone, "after")
    assert web.get("profile", "k") is not None
    assert said(phone.list()) == ["after", "before"]
    memory.admin.unlink(PHONE.key)
    assert said(phone.list()) == ["before"]
    assert said(web.list()) == ["after"]
    assert web.get("profile", "k") is None
    with pytest.raises(tacit.NotFound):
        phone.show(after)
    with pytest.raises(tacit.NotFound):
        web.show(before)
    with pytest.raises(tacit.NotFound):
        phone.update(after, "no longer mine")


def test_another_process_sees_link_and_unlink_at_once(shared_url: str, opened: Open) -> None:
    here, there = opened(shared_url), opened(shared_url)
    phone, web = private(here, PHONE), private(there, ACCOUNT)
    id = kept(phone, "said on the phone", category="profile", key="k")
    assert web.get("profile", "k") is None
    here.admin.link(PHONE.key, "acct:alice")
    assert web.get("profile", "k") is not None
    assert web.show(id).content == "said on the phone"
    assert said(web.list()) == ["said on the phone"]
    here.admin.unlink(PHONE.key)
    assert web.get("profile", "k") is None
    assert said(web.list()) == []
    assert web.recall("phone") == []
    with pytest.raises(tacit.NotFound):
        web.show(id)
    with pytest.raises(tacit.NotFound):
        web.update(id, "other words")
    assert web.put("profile", "k", "the account's own").created
    assert getattr(phone.get("profile", "k"), "content", None) == "said on the phone"


def test_a_link_that_is_not_verified_changes_nothing(memory: Memory) -> None:
    private(memory, PHONE).remember("said on the phone")
    link = memory.admin.link(PHONE.key, "acct:alice", verified=False)
    assert not link.holds
    assert said(private(memory, ACCOUNT).list()) == []
    verified = memory.admin.verify_link(PHONE.key)
    assert verified.holds
    assert verified.id == link.id
    assert said(private(memory, ACCOUNT).list()) == ["said on the phone"]
    assert memory.admin.verify_link(PHONE.key).verified_at == verified.verified_at


def test_links_keep_their_history(memory: Memory, clock: SetClock) -> None:
    memory.admin.link(PHONE.key, "acct:alice", actor="admin")
    clock.forward(days=1)
    memory.admin.unlink(PHONE.key)
    clock.forward(days=1)
    memory.admin.link(PHONE.key, "acct:other", verified=False)
    first, second = memory.admin.links(PHONE.key)
    assert (first.source, first.target, first.actor) == ("ext:telegram:1001", "acct:alice", "admin")
    assert (first.holds, first.was_verified, second.holds, second.was_verified) == (False, True, False, False)
    assert first.ended_at is not None
    assert first.created_at < first.ended_at < second.created_at
    assert [one.id for one in memory.admin.links("acct:alice")] == [first.id]
    assert memory.admin.links("acct:nobody") == []


def test_links_that_make_no_sense_are_refused(memory: Memory) -> None:
    memory.admin.link(PHONE.key, "acct:alice")
    with pytest.raises(tacit.Conflict, match="already"):
        memory.admin.link(PHONE.key, "acct:alice")
    with pytest.raises(tacit.Conflict, match="already"):
        memory.admin.link(PHONE.key, "acct:other")
    with pytest.raises(tacit.NotFound, match="no such link here"):
        memory.admin.unlink(BOB.key)
    with pytest.raises(tacit.NotFound, match="no such link here"):
        memory.admin.verify_link(BOB.key)
    for source, target in (("acct:a", "acct:b"), (BOB.key, BOB.key), ("ext:x:1", "acct:a")):
        with pytest.raises(tacit.InvalidInput):
            memory.admin.link(source, target)
    assert len(memory.admin.links(PHONE.key)) == 1


def test_in_a_union_read_the_accounts_value_wins(memory: Memory, clock: SetClock) -> None:
    private(memory, ACCOUNT).put("profile", "city", "the account's")
    clock.forward(days=1)
    private(memory, PHONE).put("profile", "city", "the phone's, newer")
    memory.admin.link(PHONE.key, "acct:alice")
    for who in (PHONE, ACCOUNT):
        view = private(memory, who)
        assert getattr(view.get("profile", "city"), "content", None) == "the account's"
        assert said(view.list()) == ["the account's"]
        assert [one.memory.content for one in view.recall("the account")] == ["the account's"]
    memory.admin.unlink(PHONE.key)
    assert said(private(memory, PHONE).list()) == ["the phone's, newer"]
    assert said(private(memory, ACCOUNT).list()) == ["the account's"]


@pytest.mark.parametrize("newer", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_without_an_accounts_value_the_latest_update_wins(
    memory: Memory, clock: SetClock, newer: tacit.Requester
) -> None:
    older = LAPTOP if newer is PHONE else PHONE
    private(memory, newer).put("profile", "city", "first words")
    clock.forward(days=1)
    private(memory, older).put("profile", "city", "older")
    clock.forward(days=1)
    private(memory, newer).put("profile", "city", "newer")
    memory.admin.link(PHONE.key, "acct:alice")
    memory.admin.link(LAPTOP.key, "acct:alice")
    for who in (PHONE, LAPTOP, ACCOUNT):
        assert said(private(memory, who).list("profile")) == ["newer"]


def test_a_shadowed_value_says_so_to_its_owner(memory: Memory) -> None:
    id = kept(private(memory, PHONE), "the phone's", category="profile", key="city")
    private(memory, ACCOUNT).put("profile", "city", "the account's")
    memory.admin.link(PHONE.key, "acct:alice")
    assert private(memory, PHONE).explain(id).rule == "S0"
    assert not private(memory, PHONE).explain(id).allowed


def test_a_private_account_value_never_uncovers_an_older_public_alias_value(memory: Memory, clock: SetClock) -> None:
    private(memory, PHONE).put("profile", "city", "Porto", visibility="public_ok", sensitivity="public")
    room, bob = group(memory, ALICE), group(memory, BOB)
    assert said(bob.list()) == ["Porto"]
    clock.forward(days=1)
    memory.admin.link(PHONE.key, "acct:alice")
    web = private(memory, ACCOUNT)
    done = web.put("profile", "city", "Lisbon")
    web.set_visibility(done.id, "private_only")
    for view in (room, bob):
        assert said(view.list()) == []
        assert view.recall("Porto") == []
        assert view.get("profile", "city") is None
        assert view.delta().changes == ()
    assert said(web.list()) == ["Lisbon"]
    # Nor does forgetting the private value bring the old one back.
    web.forget(done.id)
    assert said(web.list()) == []
    assert said(bob.list()) == []


def test_a_key_written_after_linking_takes_over_what_the_alias_had_said(memory: Memory) -> None:
    private(memory, PHONE).put("profile", "city", "Porto", importance=5, tags=["home"])
    memory.admin.link(PHONE.key, "acct:alice")
    done = private(memory, PHONE).put("profile", "city", "Lisbon")
    assert done.created
    found = get_value(private(memory, PHONE), "profile", "city")
    assert (found.owner, found.importance, found.tags) == ("acct:alice", 5, ("home",))
    assert said(private(memory, ACCOUNT).list()) == ["Lisbon"]


def test_which_value_wins_does_not_depend_on_when_it_was_judged_or_what_became_of_the_loser(
    memory: Memory, clock: SetClock
) -> None:
    loser = kept(private(memory, LAPTOP), "older", category="profile", key="city")
    clock.forward(days=1)
    private(memory, PHONE).put("profile", "city", "newer")
    memory.admin.link(PHONE.key, "acct:alice")
    memory.admin.link(LAPTOP.key, "acct:alice")
    clock.forward(days=1)
    view = private(memory, PHONE)
    view.pin(loser)  # a visible field: its updated_at is the latest now
    memory.admin.link("slack:T1:UB", "acct:alice")  # anything that makes the keys be judged again
    assert said(view.list()) == ["newer"]
    view.forget(loser)
    memory.admin.link("slack:T1:UC", "acct:alice")
    assert said(view.list()) == ["newer"]


def test_a_value_that_lost_its_key_is_not_updated_into_the_winners_place(memory: Memory) -> None:
    loser = kept(private(memory, PHONE), "the phone's", category="profile", key="city")
    private(memory, ACCOUNT).put("profile", "city", "the account's")
    memory.admin.link(PHONE.key, "acct:alice")
    with pytest.raises(tacit.Conflict):
        private(memory, ACCOUNT).update(loser, "other words")
    assert said(private(memory, PHONE).list()) == ["the account's"]
    memory.admin.unlink(PHONE.key)
    assert said(private(memory, PHONE).list()) == ["the phone's"]


def test_forget_key_reaches_the_value_of_every_identity(memory: Memory) -> None:
    private(memory, PHONE).put("profile", "city", "Porto")
    private(memory, ACCOUNT).put("profile", "city", "Lisbon")
    memory.admin.link(PHONE.key, "acct:alice")
    assert private(memory, PHONE).forget_key("profile", "city") == 2
    memory.admin.unlink(PHONE.key)
    assert said(private(memory, PHONE).list()) == []


def test_canonical_only_reads_the_account_alone(database_url: str, opened: Open) -> None:
    settings = Settings(memory=MemorySettings(read="canonical"))
    memory = opened(database_url, settings=settings)
    before = kept(private(memory, PHONE), "before the link", category="profile", key="k")
    assert said(private(memory, PHONE).list()) == ["before the link"]
    memory.admin.link(PHONE.key, "acct:alice")
    phone = private(memory, PHONE)
    assert said(phone.list()) == []
    assert phone.get("profile", "k") is None
    with pytest.raises(tacit.NotFound):
        phone.show(before)
    phone.remember("after the link")
    for who in (PHONE, ACCOUNT):
        assert said(private(memory, who).list()) == ["after the link"]
    memory.admin.unlink(PHONE.key)
    assert said(phone.list()) == ["before the link"]
