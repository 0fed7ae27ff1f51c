"""What of the things known a new message takes the place of."""

from datetime import UTC, datetime, timedelta

from tacit.learning.corrections.supersession import KnownFact, Supersession, find_superseded, make_known_fact
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)
EARLIER = NOW - timedelta(days=3)


def remembered(*messages: str) -> list[KnownFact]:
    found = []
    for message in messages:
        statements = extract_by_rules(message, "Kim", EARLIER, load_locale(guess_locale(message)))
        found += [make_known_fact(one, EARLIER) for one in statements]
    assert len(found) == len(messages)
    return found


def decided(message: str, known: list[KnownFact]) -> list[Supersession]:
    own = load_locale(guess_locale(message))
    statements = extract_by_rules(message, "Kim", NOW, own)
    return find_superseded(message, statements, "Kim", known, own, said_at=NOW)


def test_a_statement_takes_the_place_of_another_value_of_its_slot() -> None:
    old, other = remembered("I live in Gdansk", "I work for Ryanair")
    (found,) = decided("I moved to Poznan in May", [old, other])
    assert found.old == old
    assert found.new is not None
    assert found.content == found.new.content
    assert found.reason


def test_an_end_leaves_nothing_in_the_place_of_what_ended() -> None:
    (old,) = remembered("I work for Ryanair")
    (found,) = decided("I no longer work for Ryanair", [old])
    assert found.old == old
    assert found.content is None


def test_a_message_without_a_statement_is_read_in_the_light_of_what_is_known() -> None:
    old, other = remembered("Our standup is at 9", "I live in Gdansk")
    (found,) = decided("they pushed the standup to 9:30", [old, other])
    assert found.old == old
    assert found.content is not None
    assert "9:30" in found.content


def test_what_stands_beside_the_rest_replaces_nothing() -> None:
    assert decided("I also play the cello", remembered("I play the violin")) == []


def test_nothing_known_is_nothing_replaced() -> None:
    assert decided("I live in Gdansk", []) == []


def test_each_thing_known_is_replaced_once() -> None:
    (old,) = remembered("I live in Gdansk")
    found = decided("I live in Poznan now. I don't live in Gdansk any more", [old])
    assert [one.old for one in found] == [old]


def test_a_memory_is_as_it_was_stated() -> None:
    (statement,) = extract_by_rules("I no longer work for Ryanair", "Kim", EARLIER, load_locale("en"))
    known = make_known_fact(statement, EARLIER)
    assert known.negated
    assert (known.slot, known.value) == (statement.slot, statement.value)
