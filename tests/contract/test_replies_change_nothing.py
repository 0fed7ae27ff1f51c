"""A reply (a yes, thanks, a choice, an answer, an order) changes nothing of what is remembered."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.records.memory import State
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.lessons import BY_HAND, contents, told
from tests.contract.rooms import private

NORA = tacit.Requester("telegram:77", name="Nora")
DATA = Path(__file__).parent / "data"
FEW = 25  # every such reply is tried where a database takes longer
SOME = 5


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


FACTS, REPLIES = rows("facts.tsv"), rows("replies.tsv")
COMMENTS = rows("comments.tsv")


def everything(view: View) -> list[str]:
    """All that is kept for somebody, in every state, with versions, and what waits for a yes."""
    states = [view.list(limit=100, state=state).items for state in State]
    kept = [f"{one.state} v{one.version} {one.content} <- {one.source.message}" for items in states for one in items]
    asked = [f"asked: {one.content}" for one in view.proposals.list()]
    happened = [f"{one.event} {one.memory_id}" for one in view.audit.activity(limit=100).items]
    return sorted({*kept, *asked, *happened})


def conversation(replies: Sequence[dict[str, str]]) -> list[list[Message]]:
    """What the assistant said, and the reply to it; some come apart, as channels hand them over."""
    found: list[list[Message]] = []
    for at in range(0, len(replies), 100):
        said: list[Message] = []
        for one in replies[at : at + 100]:
            said.append(Message("assistant", one["assistant"]))
            said.append(Message("user", one["reply"], id=one["reply"]))
        found += [said[:-1], said[-1:]]
    return found


def test_replies_change_nothing(database_url: str, opened: Open) -> None:
    """Every fifth of 500 replies after each of 20 facts on SQLite, in memory, and on PostgreSQL, where a turn takes
    longer, every twenty-fifth; other ones after each fact. `make bench-said` takes 2,000 others."""
    assert (len(FACTS), len(REPLIES)) == (20, 500)
    few = "sqlite" not in database_url
    learning = opened(database_url if few else "sqlite://", settings=BY_HAND)
    wrong: list[str] = []
    for number, fact in enumerate(FACTS):
        view = private(learning, tacit.Requester(f"telegram:{number + 1}", name="Nora"))
        told(learning, view, fact["statement"])
        if not contents(view):
            view.remember(fact["statement"])  # no rule reads it: there is something to change
        before = everything(view)
        step = FEW if few else SOME
        for said in conversation(REPLIES[number % step :: step]):
            view.learn(said)
        learning.jobs.wait_for_learning()
        after = everything(view)
        wrong += [f"{fact['statement']}: - {one}" for one in before if one not in after]
        wrong += [f"{fact['statement']}: + {one}" for one in after if one not in before]
    assert not wrong, "\n" + "\n".join(wrong)


def test_an_answer_changes_nothing(learning: Memory) -> None:
    answers = [
        ("I live in Berlin", "Shall I look up restaurants there?", "Yes please"),
        ("I live in Berlin", "What would you like to eat?", "Thai please"),
        ("My favorite color is green", "I made the title larger.", "Ok cool"),
        ("My name is Nora Weiss", "Shall I look in Hamburg?", "no, Berlin"),
        ("My dentist appointment is on 12 March", "Which day suits you for the quiz?", "the 14th"),
        ("My dentist appointment is on 12 March", "The quiz is on the 13th.", "make it the 14th"),
        ("I live in Berlin", "Berlin again?", "not Berlin, somewhere colder"),
        ("My husband's name is Tobias", "Who should the hero be?", "it's Max"),
        ("I'm vegan", "Which menu?", "vegetarian please"),
        ("I use Firefox", "Which browser should the guide show?", "use Chrome instead"),
        ("Ich wohne in Berlin", "Soll ich dort suchen?", "nein, Hamburg"),
    ]
    for number, (fact, asked, reply) in enumerate(answers):
        view = private(learning, tacit.Requester(f"telegram:{number + 1}", name="Nora"))
        told(learning, view, fact)
        before = everything(view)
        assert before, fact
        told(learning, view, asked, role="assistant")
        told(learning, view, reply)
        assert everything(view) == before, (fact, reply)


@pytest.mark.parametrize(
    ("fact", "reply", "now"),
    [
        ("I live in Lisbon", "no, Porto, not Lisbon", "Nora lives in Porto"),
        ("I live in Lisbon", "sorry, I meant Porto", "Nora lives in Porto"),
        ("I'm vegetarian", "I meant pescatarian", "Nora is pescatarian"),
        ("My sister is called Hanna", "It's Anna, not Hanna", "Nora's sister is called Anna"),
        ("My rent is 900 euros", "actually it's 950 euros", "Nora's rent is 950 euros"),
        ("My boss is Keith", "Keith left, my boss is Lorraine now", "Nora's boss is Lorraine"),
        ("Ich wohne in Kiel", "nein, Bremen, nicht Kiel", "Nora wohnt in Bremen"),
    ],
)
def test_an_explicit_correction_replaces_what_it_corrects(learning: Memory, fact: str, reply: str, now: str) -> None:
    view = private(learning, NORA)
    told(learning, view, fact)
    told(learning, view, "Noted.", role="assistant")
    told(learning, view, reply)
    assert contents(view) == [now]


@pytest.mark.parametrize("reply", ["actually it's the 14th", "the 14th, not the 12th"])
def test_another_day_of_the_same_month_is_told_by_its_number(learning: Memory, reply: str) -> None:
    view = private(learning, NORA)
    told(learning, view, "My dentist appointment is on 12 May", reply)
    assert contents(view) == ["Nora's dentist appointment is on 14 May 2026"]


def test_a_comment_changes_nothing(database_url: str, opened: Open) -> None:
    """ "The colour is wrong" is no colour, and a phone that is dead is still the same one."""
    few = "sqlite" not in database_url
    learning = opened(database_url if few else "sqlite://", settings=BY_HAND)
    wrong: list[str] = []
    for number, one in enumerate(COMMENTS[::5] if few else COMMENTS):
        view = private(learning, tacit.Requester(f"telegram:{number + 1}", name="Nora"))
        told(learning, view, one["statement"])
        before = contents(view)
        assert before, one["statement"]
        told(learning, view, "I made the list.", role="assistant")
        told(learning, view, one["said"])
        if not set(before) <= set(contents(view)):
            wrong.append(f"{one['said']}: {before} -> {contents(view)}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("fact", "said", "now"),
    [
        ("My dog is called Bruno", "My dog died", ["Nora's dog died"]),
        ("I drive a Volvo", "I sold the Volvo", ["Nora sold the Volvo"]),
        ("My girlfriend is called Ana", "We broke up", ["Nora broke up"]),
        ("My name is Henrike", "My name is Henriette", ["Nora's name is Henriette"]),
        ("My budget is 4000 euros", "My budget is 5000 euros", ["Nora's budget is 5000 euros"]),
    ],
)
def test_an_end_or_a_value_that_is_told_counts(learning: Memory, fact: str, said: str, now: list[str]) -> None:
    view = private(learning, NORA)
    told(learning, view, fact, said)
    assert contents(view) == now


LISBON = Message("user", "I live in Lisbon")
WEATHER = Message("assistant", "Which city should I check the weather for?")
MEANT = Message("user", "I meant Munich")


@pytest.mark.parametrize(
    "calls",
    [
        [[LISBON, WEATHER, MEANT]],
        [[LISBON, WEATHER], [MEANT]],
        [[LISBON], [WEATHER], [MEANT]],
        [[LISBON], [WEATHER, MEANT]],
        [[LISBON], [WEATHER, Message("user", "Munich, not Lisbon")]],
        [[LISBON, Message("assistant", "Lisbon or Porto?"), Message("user", "Porto, not Lisbon")]],
        [[LISBON], [Message("user", "tell me a joke")], [MEANT]],
        [[LISBON], [Message("user", "My dog is called Bruno")], [Message("user", "*Vienna")]],
        [[Message("user", "I live in Lisbon and my sister lives in Rome")], [MEANT]],
        [[Message("user", "My birthday is on 3 July")], [Message("user", "I meant Tuesday")]],
        [[Message("user", "My flight leaves on Friday at 7")], [Message("user", "ich meinte Montag")]],
    ],
)
def test_a_correction_that_may_mean_something_else_changes_nothing(
    learning: Memory, calls: list[list[Message]]
) -> None:
    view, other = private(learning, NORA), private(learning, tacit.Requester("telegram:78"))
    for call in calls:
        view.learn(call)
        learning.jobs.wait_for_learning()
    stated = [one for call in calls for one in call if one.role == "user"][:-1]
    for one in stated:
        other.learn([one])
        learning.jobs.wait_for_learning()
    kept = [one.replace("Nora", "The user") for one in contents(view)]
    assert kept == contents(other)


def test_a_correction_of_what_a_question_repeats_counts(learning: Memory) -> None:
    view = private(learning, NORA)
    view.learn([LISBON, Message("assistant", "Lisbon, is that right?"), Message("user", "I meant Porto")])
    learning.jobs.wait_for_learning()
    assert contents(view) == ["Nora lives in Porto"]
