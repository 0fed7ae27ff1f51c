"""Which newer statement takes the place of an older one, and which stands beside it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tacit.learning.corrections.supersession import replaces
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import Mention, StatedFact

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)

CORRECTIONS = """
I live in Gdansk | I moved to Poznan in May
I work for Ryanair | I work for EasyJet these days
I work for the council | I quit the council
I'm a student | I graduated, I'm a teacher now
My boss is Helen | Helen left, Raj is my boss now
my manager is called Tobias | I have a new manager, his name is Anton
My GP is Dr. Novak | I have a new GP, Dr. Sato
my therapist is Ms Pohl | I changed therapists, it's Mr Hahn now
I'm dating Felix | Felix and I split up
I'm engaged to Nadia | Nadia and I got married on Saturday
I'm single | I'm engaged to Olaf
we have one child | we have two children now
Lina is 11 | Lina is 12 now
my dog Pepper is 6 | Pepper is 7 now
My email is pia@alt.example | My email changed, it's pia@neu.example
I drive a Fiat Panda | I sold the Panda and drive a Skoda now
My favourite colour is blue | my favourite color changed to green
I'm a vegetarian | I eat meat again
I prefer coffee in the morning | I prefer tea in the morning now
I like my news at 8am | from now on I want my news at 6am
My flight is on 3 July | my flight got moved to 4 July
the deadline is on 30 June | the deadline was moved to 15 July
the history exam is on the 20th | the history exam got moved, it's on the 27th now
my interview is at 10 on Friday | my interview is at 11 on Friday, not 10
Our retro is on Fridays | Our retro is on Thursdays now
I wear size M | I wear size L now
I take the bus to work | I cycle to work now
I work from home on Fridays | I work from home on Wednesdays now instead
I get up at 6 | I get up at 7 now
I run 20 km a week | I run 30 km a week now
We have 12 employees | We have 15 employees now
Our office is in Lyon | our office moved to Paris
My contract ends in December | my contract was extended, it ends in March
I'm learning Italian | I stopped learning Italian
I play the violin | I gave up the violin
I'm allergic to penicillin | turns out I'm not allergic to penicillin
I have a boat | we sold the boat
I take ibuprofen | I no longer take ibuprofen
I'm in therapy | I stopped therapy
I'm training for a marathon | I'm not training for the marathon any more
I'm a member of the rowing club | I'm no longer a member of the rowing club
Project Robin uses Django 4 | Project Robin uses Django 5 now
the spare key is with Ada | the spare key is with Tom now
show me prices in euros | from now on show me prices in dollars
Ich wohne in Mainz | Ich bin nach Trier gezogen
Ich trinke Kaffee mit Milch | ich trinke Kaffee jetzt schwarz
Die Chorprobe ist dienstags | Die Chorprobe ist jetzt mittwochs
Mein Handy ist ein Samsung | Mein neues Handy ist ein Pixel
Ich bin ledig | Ich bin jetzt verheiratet
Ich spiele Tennis | ich spiele kein Tennis mehr
Mein Arzt ist Dr. Klein | mein Arzt ist jetzt Dr. Weber
I play squash on Tuesdays | I play squash on Thursdays now
I don't have a car | I have a car now
I work at Carrefour | I'm working at Auchan now
"""

COEXISTING = """
I live in Porto | I was born in Braga
I live in Bonn | My office is in Cologne
I'm a nurse | I'm a singer in a band
I swim on Mondays | I swim on Thursdays
I go to the gym on Mondays | I go to the gym on Fridays
I'll bring salad on Friday | I'll bring cake on Saturday
I have an exam on Monday | I have an exam on Thursday
my flight to Rome is on 3 July | my flight to Oslo is on 10 July
my work phone is 0151 111111 | my private phone is 0151 222222
my private email is a@b.example | my work email is c@d.example
I use Firefox at work | I use Safari at home
My team uses Jira | My team uses Confluence
My dog is called Rex | My other dog is called Bella
my cat Minka is 4 | my cat Tiger is 7
My ex-husband is Karl | My husband is Peter
My brother Max is 20 | My brother Leo is 23
the gym opens at 6 on weekdays | the gym opens at 8 on Sundays
the cellar key is with Ann | the spare key is with Bob
Our team has five people | our company has fifty people
I take my tea with milk | I take my coffee black
I wear size 43 shoes | I wear size L shirts
I prefer tea in the morning | I prefer coffee in the afternoon
I broke my arm in 2019 | I broke my leg in 2021
I own a flat in Rome | I rent a flat in Milan
I'm learning Greek | I'm learning to code
Ich arbeite montags | Ich arbeite dienstags
Ich lerne Spanisch | Ich lerne Gitarre
Mein Sohn ist 7 | Meine Tochter ist 9
I play squash on Tuesdays | I play squash on Fridays
I have a Kindle | I have a Vespa now
"""


def pairs(listed: str) -> list[tuple[str, str]]:
    split = [line.split(" | ") for line in listed.strip().splitlines()]
    return [(one, other) for one, other in split]


def said(text: str) -> list[StatedFact]:
    found = extract_by_rules(text, "Kim", NOW, load_locale(guess_locale(text)))
    assert found, text
    return found


def only(text: str) -> StatedFact:
    (found,) = said(text)
    return found


@pytest.mark.parametrize(("before", "after"), pairs(CORRECTIONS))
def test_a_correction_takes_the_place_of_what_it_corrects(before: str, after: str) -> None:
    assert any(replaces(old, new) for old in said(before) for new in said(after))


@pytest.mark.parametrize(("one", "other"), pairs(COEXISTING))
def test_what_merely_looks_alike_stays(one: str, other: str) -> None:
    for first in said(one):
        for second in said(other):
            assert not replaces(first, second)
            assert not replaces(second, first)


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
    assert [one.content for one in said("I'm Kat. No wait, call me Kasia")] == [
        "Kim wants to be called Kasia"
    ]


ROLES = """
Marta is the team lead | Ivo is the team lead now
Tom is the CFO | Tom is the CEO now
our CEO is Brandt | our CEO is Okoye now
"""


@pytest.mark.parametrize(("before", "after"), pairs(ROLES))
def test_a_role_passes_on_and_so_does_its_holder(before: str, after: str) -> None:
    assert replaces(only(before), only(after))


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
