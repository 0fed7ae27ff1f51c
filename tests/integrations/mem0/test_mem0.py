"""Each word of mem0's interface, as far as a record of mem0 cannot tell: whose a memory is, how it
goes, and what scripts for earlier versions say."""

from typing import Any

import pytest

import tacit
from tacit.errors import SecretRefused
from tacit.integrations.mem0 import Memory
from tacit.settings import Settings
from tests.contract.rooms import SetClock

ALICE: dict[str, Any] = {"user_id": "alice"}


def kept(memory: Memory, words: str = "I keep bees", **more: Any) -> str:
    """The id of one memory, alice's unless told otherwise."""
    whose = more if {"user_id", "agent_id", "run_id"} & set(more) else {**ALICE, **more}
    id: str = memory.add(words, infer=False, **whose)["results"][0]["id"]
    return id


def words(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    return [one["memory"] for one in found["results"]]


def own_view(store: tacit.Memory, key: str = "mem0:alice") -> Any:
    return store.space("mem0").view(tacit.Requester(key), tacit.Chat.private(key))


def test_scripts_for_earlier_versions_name_people_and_counts_beside_the_filters(memory: Memory) -> None:
    for number in range(4):
        kept(memory, f"I keep {number} bees", agent_id="bot", **ALICE)
    assert len(words(memory.search("bees", user_id="alice"))) == 4
    assert len(words(memory.search("bees", user_id="alice", limit=2))) == 2
    assert words(memory.search("bees", user_id="alice", agent_id="other")) == []
    assert len(words(memory.get_all(user_id="alice", limit=3))) == 3
    assert len(words(memory.get_all(user_id="alice", output_format="v1.1"))) == 4
    newest = memory.get_all(user_id="alice", limit=1)["results"][0]
    memory.update(newest["id"], "I keep wasps")
    memory.update(memory_id=newest["id"], data="I keep hornets")
    assert words(memory.search("hornets", user_id="alice", limit=1)) == ["I keep hornets"]


def test_what_is_nearest_is_found_rather_than_nothing_unless_more_is_asked_for(memory: Memory, clock: SetClock) -> None:
    for one in ("I keep bees", "I like to play tennis on weekends", "I eat no nuts"):
        kept(memory, one)
        clock.forward(seconds=1)
    kept(memory, "I sail", user_id="bob")
    newest_first = ["I eat no nuts", "I like to play tennis on weekends", "I keep bees"]
    for question in ("What are Alice's hobbies?", "What do you know about me?"):
        found = memory.search(question, user_id="alice")
        assert words(found) == newest_first
        assert all(one["score"] >= 0.1 for one in found["results"])
        assert words(memory.search(question, user_id="alice", threshold=0.2)) == []
    tennis = memory.search("when do I play tennis?", user_id="alice")["results"]
    assert [one["memory"] for one in tennis] == [newest_first[n] for n in (1, 0, 2)]
    assert tennis[0]["score"] > tennis[1]["score"] == tennis[2]["score"]
    assert words(memory.search("hobbies", user_id="alice", top_k=2)) == newest_first[:2]
    assert words(memory.search("hobbies", user_id="bob")) == ["I sail"]
    assert words(memory.search("hobbies", user_id="carol")) == []


def test_nothing_of_one_user_reaches_another_whatever_the_filters(memory: Memory) -> None:
    kept(memory, "I keep bees", metadata={"topic": "garden"}, agent_id="bot", **ALICE)
    anything: dict[str, Any] = {"OR": [{"user_id": "alice"}, {"topic": "garden"}]}
    for filters in ({}, {"topic": "*"}, {"OR": [{"user_id": "alice"}]}, anything):
        assert words(memory.search("bees", filters={"user_id": "bob", **filters})) == []
        assert words(memory.get_all(filters={"user_id": "bob", **filters})) == []
    # An agent hears what it said itself, and not what it was told by everybody.
    assert words(memory.search("bees", filters={"agent_id": "bot"})) == []
    assert words(memory.get_all(filters={"agent_id": "bot"}, show_expired=True)) == []
    with pytest.raises(ValueError, match="wildcard"):
        memory.get_all(filters={"user_id": "*"})
    memory.delete_all(user_id="bob")
    memory.delete_all(agent_id="bot")
    assert words(memory.get_all(filters=ALICE)) == ["I keep bees"]


def test_what_others_have_changes_nothing_of_an_answer_not_even_a_score(store: tacit.Memory, clock: SetClock) -> None:
    def answers(space: str, *others: str) -> list[Any]:
        memory = Memory(memory=store, space=space)
        for words in others:
            kept(memory, words, user_id="bob", metadata={"topic": "garden"}, agent_id="bot")
        for words in ("I keep bees", "I swim in the garden pond", "bees and wasps"):
            kept(memory, words, metadata={"topic": "garden"}, agent_id="bot", **ALICE)
            clock.forward(seconds=1)
        clock.forward(seconds=-3)
        found = [
            memory.search("bees in the garden", filters=ALICE, explain=True),
            memory.search("bees", filters={**ALICE, "agent_id": "bot", "topic": "garden"}),
            memory.get_all(filters=ALICE),
        ]
        return [[{**one, "id": ""} for one in each["results"]] for each in found]

    alone = answers("alone")
    assert all(alone)
    assert answers("crowded", "I keep bees too", "bees, bees, bees", "my garden") == alone


def test_an_id_says_whose_it_is_and_opens_nothing_under_another_name(memory: Memory) -> None:
    id, other = kept(memory), kept(memory, "I swim", user_id="bob")
    found = memory.get(id)
    assert found is not None
    assert found["user_id"] == "alice"
    swapped = id[:8] + other[8:]
    for wrong in (swapped, id[:8], id + "=", id[:8] + "u", "", "x" * 40, None, 7, "é" * 12):
        assert memory.get(wrong) is None  # type: ignore[arg-type]
        assert memory.history(wrong) == []  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no such memory"):
            memory.delete(wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no such memory"):
            memory.update(wrong, "I keep wasps")  # type: ignore[arg-type]
    assert words(memory.get_all(filters=ALICE)) == ["I keep bees"]


def test_a_reset_erases_its_own_space_and_no_other(memory: Memory, store: tacit.Memory) -> None:
    kept(memory)
    key = "mem0:alice"
    here = store.view(tacit.Requester(key), tacit.Chat.private(key))
    here.remember("Standup is at nine")
    memory.reset()
    assert words(memory.get_all(filters=ALICE, show_expired=True)) == []
    assert [one.content for one in here.list()] == ["Standup is at nine"]
    kept(memory, "I keep wasps")
    assert words(memory.get_all(filters=ALICE)) == ["I keep wasps"]


def test_what_holds_a_secret_is_refused_before_anything_is_kept(memory: Memory) -> None:
    secret = "my card is 4111 1111 1111 1111"
    said = [{"role": "user", "content": "I keep bees"}, {"role": "user", "content": secret}]
    with pytest.raises(SecretRefused) as refused:
        memory.add(said, **ALICE, infer=False)
    assert "4111" not in str(refused.value)
    with pytest.raises(SecretRefused):
        memory.add(said[:1], **ALICE, infer=False, metadata={"note": secret})
    with pytest.raises(ValueError, match="role"):
        memory.add([*said[:1], {"role": "r" * 300, "content": "I swim"}], **ALICE, infer=False)
    assert words(memory.get_all(filters=ALICE)) == []


def test_a_date_is_the_last_day_that_counts(memory: Memory, clock: SetClock) -> None:
    id = kept(memory, "I rent a scooter", expiration_date="2026-03-02")
    clock.forward(days=1)
    assert words(memory.search("scooter", filters=ALICE)) == ["I rent a scooter"]
    clock.forward(days=1)
    assert words(memory.search("scooter", filters=ALICE)) == []
    assert words(memory.get_all(filters=ALICE)) == []
    assert words(memory.search("scooter", filters=ALICE, show_expired=True)) == ["I rent a scooter"]
    assert words(memory.get_all(filters=ALICE, show_expired=True)) == ["I rent a scooter"]
    assert (memory.get(id) or {})["expiration_date"] == "2026-03-02"


@pytest.mark.parametrize("swept", [False, True])
def test_what_has_expired_comes_back_with_a_later_date_and_not_with_other_words(
    memory: Memory, store: tacit.Memory, clock: SetClock, swept: bool
) -> None:
    id = kept(memory, "I rent a scooter", expiration_date="2026-03-02")
    clock.forward(days=3)
    if swept:
        store.space("mem0").jobs.expire()
    secret = "my card is 4111 1111 1111 1111"
    with pytest.raises(SecretRefused):
        memory.update(id, secret, expiration_date=None)
    with pytest.raises(ValueError, match="is past"):
        memory.update(id, "I rent two scooters")
    assert words(memory.get_all(filters=ALICE)) == []
    memory.update(id, "I rent no scooter", expiration_date=None)
    assert words(memory.get_all(filters=ALICE)) == ["I rent no scooter"]
    assert (memory.get(id) or {})["expiration_date"] is None


def test_metadata_is_what_goes_with_the_memory_everywhere(memory: Memory, store: tacit.Memory) -> None:
    given = {"topic": "garden", "deep": {"hives": [1, 2]}}
    id = kept(memory, metadata=given)
    given["topic"] = "changed since"
    assert own_view(store).show(id[:8]).data == {"topic": "garden", "deep": {"hives": [1, 2]}}
    memory.update(id, metadata={"topic": "bees"})
    found = memory.search("bees", filters={**ALICE, "deep.hives": {"gte": 2}})["results"][0]
    assert found["metadata"] == {"topic": "bees", "deep": {"hives": [1, 2]}}
    with pytest.raises(ValueError, match="JSON"):
        kept(memory, metadata={"at": object()})


def test_lists_and_deletions_go_on_beyond_a_page(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        kept(memory, f"I keep {number} bees", expiration_date="2026-04-01" if number % 2 else None)
    monkeypatch.setattr("tacit.limits.PAGE_MAX_COUNT", 2)
    for shown in (False, True):
        assert len(words(memory.get_all(filters=ALICE, top_k=99, show_expired=shown))) == 5
    assert len(words(memory.search("wasps", filters=ALICE, threshold=0))) == 5
    memory.delete_all(**ALICE)
    assert words(memory.get_all(filters=ALICE, show_expired=True)) == []


def test_an_agent_with_an_allow_list_gets_no_further_here(database_url: str, clock: SetClock) -> None:
    settings = Settings(allowlists={"bot": ("preference",)})
    with tacit.open(database_url, settings=settings, clock=clock, embedder=None) as store:
        memory = Memory(memory=store)
        kept(memory)
        with pytest.raises(ValueError, match="may not use"):
            kept(memory, agent_id="bot", **ALICE)
        own_view(store).remember("I keep wasps", agent="bot")
        for shown in (False, True):
            whole = {**ALICE, "agent_id": "bot"}
            assert words(memory.search("hobbies", filters=whole, show_expired=shown)) == []
        assert "I keep wasps" in words(memory.search("hobbies", filters=ALICE))
