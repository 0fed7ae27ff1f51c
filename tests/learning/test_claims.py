"""What is only worded wrongly, told from what the message does not say, and worded anew."""

import pytest

from tacit.learning.claims import RefusedClaim
from tacit.learning.facts import StatedFact
from tests.learning.claiming import claim, judge, refused, taken


@pytest.mark.parametrize(
    ("content", "about", "said"),
    [
        ("It has a red roof", [], True),
        ("My shed has a red roof?", [], True),
        ("She has a red shed", ["Carol"], True),
        ("Alice has a red shed", ["Carol"], True),  # and does not name her
        ("It hides stolen bikes", [], False),
        ("It has a red roof", ["Bob"], False),
    ],
)
def test_what_is_only_worded_wrongly_is_told_from_what_is_not_said(content: str, about: list[str], said: bool) -> None:
    text = "my shed has a red roof, Carol has a red shed"
    found = judge(text).judged(claim(content, text, about=about))
    assert isinstance(found, RefusedClaim)
    assert found.said is said


@pytest.mark.parametrize(
    ("content", "as_it_was"),
    [
        ("Alice has a visit on 2 March 2026", True),
        ("Alice has a visit tomorrow", False),
        ("I have a visit on 2 March 2026", False),
        ("Alice has a visit on 3 March 2026", False),
    ],
)
def test_what_was_right_at_once_needed_nothing_to_be_put_right(content: str, as_it_was: bool) -> None:
    text = "I have a visit tomorrow"
    assert judge(text).at_once(claim(content, text)) is as_it_was
    assert not judge(text).at_once(claim(content, text.upper()))


MOTHER = "my mother keeps bees, she grows old roses at home"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Alice grows old roses at home", "another person"),
        ("At home old roses grow Alice's mother", "something else"),
        ("Alice's mother keeps bees", "something else"),
        ("She grows old roses at home", "pronoun"),
    ],
)
def test_another_wording_must_be_of_the_same_and_of_nobody_else(content: str, reason: str) -> None:
    fact = claim("She grows old roses at home", "she grows old roses at home")
    found = judge(MOTHER).reworded(fact, content)
    assert isinstance(found, RefusedClaim)
    assert reason in found.reason


def test_another_wording_that_names_who_is_meant_is_taken() -> None:
    fact = claim("She grows old roses at home", "she grows old roses at home", about=["mother"])
    found = judge(MOTHER).reworded(fact, "Alice's mother grows old roses at home")
    assert isinstance(found, StatedFact)
    assert [one.relation for one in found.about] == ["mother"]


@pytest.mark.parametrize(
    ("text", "content", "kept"),
    [
        (
            "I brought my old jokes to the party",
            "Alice brought his old jokes to the party",
            "Alice brought Alice's old jokes to the party",
        ),
        (
            "the car needs its inspection in August",
            "The car needs its inspection in August",
            "The car needs the car's inspection in August",
        ),
        ("Mark runs the club and coaches", "Mark runs the club and he coaches", "Mark runs the club and Mark coaches"),
        (
            "my car is old but it still runs",
            "Alice's car is old but it still runs",
            "Alice's car is old but Alice's car still runs",
        ),
        (
            "Lena and I bought a house, we move in May",
            "Alice and Lena bought a house, they move in May",
            "Alice and Lena bought a house, Alice and Lena move in May",
        ),
        (
            "ich weiß, dass ich Fensterplätze mag",
            "Alice weiß, dass sie Fensterplätze mag",
            "Alice weiß, dass Alice Fensterplätze mag",
        ),
        ("the lift is out of order", "Alice knows that the lift is out of order", "The lift is out of order"),
        (
            "the car needs its inspection in August",
            "Alice needs to remember that the car needs its inspection in August",
            "The car needs the car's inspection in August",
        ),
    ],
)
def test_a_pronoun_that_can_only_mean_one_is_put_right(text: str, content: str, kept: str) -> None:
    assert taken(text, content).content == kept


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I met Carl, he moved to Rome", "Alice met Carl and he moved to Rome"),
        ("I like him", "Alice likes him"),
        ("my doctor knows that I smoke", "Alice told the doctor that she smokes"),
        ("my sister has the keys of Tom", "Alice's sister has his keys"),
        ("Lena and I have two dogs, they bark", "Alice and Lena have two dogs, they bark"),
        ("ich mag Katzen, weil sie ruhig sind", "Alice mag Katzen, weil sie ruhig sind"),
        ("das Auto braucht eine Inspektion", "Das Auto braucht seine Inspektion"),
    ],
)
def test_a_pronoun_that_may_mean_two_is_not_guessed(text: str, content: str) -> None:
    own = judge(text)
    mended = own.wording.put(claim(content, text), mended=True)
    assert mended.content == content
    assert "pronoun" in (own.misshapen(mended) or "")


@pytest.mark.parametrize(
    ("text", "content", "about", "kept"),
    [
        (
            "My boss is called Ingrid, she is away in May",
            "Alice's boss is away in May",
            "Ingrid",
            "Alice's boss Ingrid is away in May",
        ),
        (
            "Meine Chefin heißt Anna, sie wohnt in Kiel",
            "Alices Chefin wohnt in Kiel",
            "Anna",
            "Alices Chefin Anna wohnt in Kiel",
        ),
        ("My boss met Ingrid in Kiel", "Alice's boss met in Kiel", "Ingrid", None),
    ],
)
def test_whom_the_message_names_gets_the_name(text: str, content: str, about: str, kept: str | None) -> None:
    found = judge(text).judged(claim(content, text, about=[about]))
    assert (found.content if isinstance(found, StatedFact) else None) == kept


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("don't forget your jackets, the wind is cold", "Alice doesn't forget Alice's jackets"),
        ("your jackets are in the hall", "Alice's jackets are in the hall"),
        ("you live in Rome, right", "Alice lives in Rome"),
        ("make a worksheet about fractions", "Alice makes a worksheet about fractions"),
        ("this misses the point, rewrite it in French", "Alice rewrites in French"),
        ("arbeite den Text bitte um", "Alice arbeitet den Text bitte um"),
        ("deine Jacke hängt im Flur", "Alices Jacke hängt im Flur"),
    ],
)
def test_what_is_said_to_somebody_else_is_not_of_the_speaker(text: str, content: str) -> None:
    refused(text, content)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("it no longer works, tried twice", "Alice's computer no longer works"),
        ("this doesn't hit the mark", "Alice doesn't hit the mark"),
        ("Nathan has a peanut allergy", "Alice has a peanut allergy"),
        ("Nathan has an allergy so no satay sauce", "Alice has an allergy so no satay sauce"),
        ("my mother has asthma", "Alice has asthma"),
        ("our neighbour Tom keeps bees", "Alice keeps bees"),
        ('"Stop," said the fox, and hid the bike behind the barn', "Alice hid the bike"),
        ("the old fox hid behind the barn", "Alice hid behind the barn"),
        ("and all that jazz", "Alice and all that jazz"),
        ("it's not that I don't like sushi, it's the price", "Alice doesn't like sushi"),
        ("es ist nicht so, dass ich keinen Fisch mag", "Alice mag keinen Fisch"),
        ("I'm a mess today", "Alice is a mess today"),
        ("the train's late again", "Alice's train is late again"),
        ("I would walk 500 miles", "Alice would walk 500 miles"),
        ("ich bin allergisch gegen Montage", "Alice ist allergisch gegen Montage"),
        ("good morning everyone", "Alice says good morning everyone"),
        ("make a note of my birthday", "Alice wants to make a note of Alice's birthday"),
        ("Buddy moved to Rome", "Alice's uncle Buddy moved to Rome"),
        ("lots of kids are allergic to eggs", "Alice's kids are allergic to eggs"),
    ],
)
def test_what_the_message_says_of_another_or_does_not_mean_is_no_fact(text: str, content: str) -> None:
    found = judge(text).judged(claim(content, text))
    assert isinstance(found, RefusedClaim)
    assert not found.said


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("can't stand olives", "Alice can't stand olives"),
        ("vegan since 2010", "Alice is vegan since 2010"),
        ("take insulin twice a day", "Alice takes insulin twice a day"),
        ("mother of two, living in Bonn", "Alice is a mother of two"),
        ("I am free on Fridays", "Alice is free on Fridays"),
        ("I play chess with your brother", "Alice plays chess with the brother"),
        ("you should know I'm deaf in one ear", "Alice is deaf in one ear"),
        ("Please call me Al", "Alice wants to be called Al"),
        ("we got a dog, it's called Rex", "Alice's dog is called Rex"),
        ("no sugar in my tea", "Alice has no sugar in Alice's tea"),
        ("write this down: the boiler man is Piet", "The boiler man is Piet"),
        ("arbeite bei Siemens", "Alice arbeitet bei Siemens"),
        ("Kein Koriander bitte", "Alice mag keinen Koriander"),
        ("I grow old roses", "Alice grows old roses"),
        ("the kids are allergic to eggs", "Alice's kids are allergic to eggs"),
        ("my best friend is Lindiwe", "Alice is friends with Lindiwe"),
        ("sister moved to Rome", "Alice's sister moved to Rome"),
    ],
)
def test_what_the_speaker_says_of_themselves_is_taken(text: str, content: str) -> None:
    assert taken(text, content).content == content


def test_a_clause_counts_from_where_the_quote_begins() -> None:
    text = "you will laugh, but the garden has become a home for hedgehogs"
    quote = "the garden has become a home for hedgehogs"
    assert taken(text, "Alice's garden has become a home for hedgehogs", quote).quote == quote
