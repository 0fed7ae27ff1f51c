"""Which newer statement takes the place of an older one, and which stands beside it."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tacit.learning.corrections.supersession import replaces
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import Mention, StatedFact
from tests.corpus import check_corpus

DATA = Path(__file__).parent / "data"
NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)


def said(text: str) -> list[StatedFact]:
    found = extract_by_rules(text, "Kim", NOW, load_locale(guess_locale(text)))
    assert found, text
    return found


def only(text: str) -> StatedFact:
    (found,) = said(text)
    return found


def test_a_newer_statement_replaces_what_it_corrects_and_nothing_else() -> None:
    """Columns: a message, the next one, and whether the first is `replaced` or `kept`."""

    def outcome(before: str, after: str) -> list[str]:
        both = [(old, new) for old in said(before) for new in said(after)]
        if any(replaces(old, new) for old, new in both):
            return ["replaced"]
        return ["replaces" if any(replaces(new, old) for old, new in both) else "kept"]

    check_corpus(DATA / "replacements.tsv", 2, outcome)


def test_the_same_again_replaces_nothing() -> None:
    assert not replaces(only("I live in Rome"), only("I live in Rome"))


def test_an_end_of_something_else_ends_nothing() -> None:
    assert not replaces(only("I work at Acme"), only("I no longer work at Bosch"))


def test_an_end_that_names_nothing_ends_whatever_there_was() -> None:
    assert replaces(only("I work at Acme"), only("I quit my job"))


def test_what_has_ended_is_followed_by_what_holds_now() -> None:
    assert replaces(only("I no longer work at Acme"), only("I work at Bosch"))


def test_a_second_job_stands_beside_the_first_unless_it_is_said_as_a_change() -> None:
    old = only("I'm a nurse")
    assert not replaces(old, only("I'm a singer"))
    assert replaces(old, only("I'm a singer now"))
    assert not replaces(old, only("I'm also a singer now"))


def test_an_opposite_taste_replaces_the_older_one_both_ways() -> None:
    likes, hates = only("I like techno"), only("I hate techno")
    assert replaces(likes, hates)
    assert replaces(hates, likes)


def test_one_brother_is_not_another() -> None:
    named, bare = only("my brother Erik lives in Oslo"), only("my brother lives in Bergen")
    assert not replaces(named, bare)
    assert not replaces(bare, named)


def test_a_name_counts_before_a_relation() -> None:
    old = only("my daughter Bianca is 5")
    assert replaces(old, only("Bianca is 6 now"))
    assert not replaces(old, only("Clara is 6 now"))


def test_a_username_is_a_name() -> None:
    bob = Mention(text="@bob", name=None, relation=None, username="bob")
    old = replace(only("Eva is 30"), about=(bob,))
    assert replaces(old, replace(only("Eva is 31"), about=(bob,)))
    assert not replaces(old, only("Eva is 31"))


def test_my_exam_and_the_exam_are_one() -> None:
    assert replaces(only("my exam is on 3 July"), only("the exam is on 4 July"))


def test_an_event_of_mine_is_not_that_of_another() -> None:
    assert not replaces(only("my exam is on 3 July"), only("Bob's exam is on 4 July"))


def test_within_a_message_the_correction_stands_alone() -> None:
    assert [one.content for one in said("I'm Kat. No wait, call me Kasia")] == ["Kim wants to be called Kasia"]


def test_two_who_hold_two_roles_stay() -> None:
    assert not replaces(only("Ali is head of sales"), only("Bea is head of support now"))


def test_a_partner_may_become_more_and_stay_the_same_one() -> None:
    assert replaces(only("Ola is my girlfriend"), only("Ola is my wife now"))


def test_what_is_no_longer_used_ends_what_was_said_to_be_used() -> None:
    assert replaces(only("I use Duolingo"), only("I stopped using Duolingo"))


def test_an_allergy_is_no_taste() -> None:
    assert not replaces(only("I'm allergic to cats"), only("I no longer like cats"))


def test_an_intolerance_stands_beside_a_diet() -> None:
    assert not replaces(only("I'm vegan"), only("I'm lactose intolerant now"))


def test_a_name_day_is_no_anniversary() -> None:
    assert not replaces(only("our anniversary is 6 July"), only("my name day is 15 October"))


def test_two_moves_in_two_years_are_two_events() -> None:
    first, second = only("I moved to Norwich in 2008"), only("I moved to Sheffield in 2017")
    assert not replaces(first, second)
    assert not replaces(second, first)
