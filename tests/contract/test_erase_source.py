"""What was learned from a source goes for good, with its wordings; what people said stays."""

import json

import pytest

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import LearnSettings
from tests.contract.conftest import Open
from tests.contract.lessons import contents, only, told
from tests.contract.rooms import ALICE, BOB, TEAM, group, private
from tests.contract.rows import rows
from tests.contract.test_erasures import _restore, _tables, canary, lines
from tests.contract.traces import cleaned, traces

HOME = ALICE.key
SETTINGS = Settings(learn=LearnSettings(workers=0), memory=MemorySettings(sessions=SessionsSettings(keep=True)))


@pytest.fixture
def learning(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=SETTINGS)


def wordings(memory: Memory) -> list[str]:
    return [text for (text,) in rows(memory, "SELECT content FROM memory_versions")]


def test_what_a_chat_taught_is_gone_with_its_turns_and_what_waits(learning: Memory) -> None:
    own = private(learning, ALICE)
    told(learning, own, "I live in Lisbon", "I'm allergic to peanuts")
    told(learning, group(learning, ALICE), "I play the cello")
    own.learn([Message("user", "I like jazz")])
    own.remember("my own word")
    done = learning.operator("root").erase_source(HOME)
    assert cleaned(done)
    assert contents(own) == ["Alice plays the cello", "my own word"]
    assert rows(learning, "SELECT count(*) FROM jobs WHERE kind = 'learn'") == [(0,)]
    assert not any("Lisbon" in text for text in wordings(learning))
    turns = rows(learning, "SELECT content FROM memories WHERE is_turn")
    assert [text for (text,) in turns] == ["I play the cello"]
    assert learning.operator("root").erase_source(HOME).count == 0
    assert learning.admin.maintain().healthy


def test_one_message_goes_and_what_it_had_replaced_stands_again(learning: Memory) -> None:
    own = private(learning, ALICE)
    own.learn([Message("user", "I live in Lisbon", id="1")])
    learning.jobs.wait_for_learning()
    own.learn([Message("user", "I live in Porto now", id="2")])
    learning.jobs.wait_for_learning()
    learning.operator("root").erase_source(f"{HOME}/2")
    assert contents(own) == ["Alice lives in Lisbon"]
    assert not any("Porto" in text for text in wordings(learning))
    assert learning.admin.maintain().healthy


def test_what_was_reverted_before_is_erased_too(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    told(learning, own, "I live in Lisbon", "I live in Porto now")
    root.revert(HOME)
    assert any("Porto" in text for text in wordings(learning))
    root.erase_source(HOME)
    assert contents(own) == []
    assert wordings(learning) == []


def test_a_persons_own_later_word_stays_without_the_words_it_replaced(learning: Memory) -> None:
    own = private(learning, ALICE)
    told(learning, own, "I live in Lisbon")
    own.update(only(own, "Lisbon").id, "Alice lives in Faro")
    learning.operator("root").erase_source(HOME)
    assert contents(own) == ["Alice lives in Faro"]
    assert set(wordings(learning)) == {"Alice lives in Faro"}
    assert learning.admin.maintain().healthy


def test_replayed_on_an_older_copy_a_source_is_gone_from_there(learning: Memory) -> None:
    own, room = private(learning, ALICE), group(learning, BOB)
    told(learning, own, "I live in Lisbon", "I live in Porto now")
    told(learning, room, "I play the cello")
    own.learn([Message("user", "I like jazz")])
    before = _tables(learning)
    learning.operator("root").erase_source(HOME)
    said = lines(learning)
    assert "telegram" not in json.dumps(said)
    _restore(learning, before)
    assert contents(own) != []
    again = learning.admin.replay_erasures(said)
    assert again.count > 0
    learning.jobs.wait_for_learning()
    assert contents(own) == ["Bob plays the cello"]
    assert learning.admin.replay_erasures(said).count == 0


def test_not_a_byte_of_a_source_is_left(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, settings=SETTINGS)
    word = canary()
    told(memory, group(memory, ALICE), f"remember that my locker is {word}")
    assert traces(shared_url, word)
    assert cleaned(memory.operator("root").erase_source(TEAM))
    assert traces(shared_url, word) == []


def test_a_source_that_cannot_be_named_is_refused(learning: Memory) -> None:
    for bad in ("", "import:x", "nonsense", None):
        with pytest.raises(tacit.InvalidInput):
            learning.operator("root").erase_source(bad)  # type: ignore[arg-type]
