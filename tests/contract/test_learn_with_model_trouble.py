"""A model that is down, slow or talks nonsense: nothing bad is written, and nothing is lost."""

import logging
import socket

import pytest

from tacit import Message
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.lessons import contents, told
from tests.contract.rooms import ALICE, SetClock, private
from tests.contract.rows import rows
from tests.contract.scripted import GARDEN, GOOD, HEDGEHOGS, by_model
from tests.llm.endpoint import Endpoint, Reply, Step
from tests.llm.replies import half, refuses, says

TROUBLE: list[tuple[str, Step, str, int]] = [
    ("garbage", says("lorem ipsum, no JSON at all"), "LanguageBadAnswer", 2),
    ("truncated JSON", half(GOOD), "LanguageUnavailable", 1),
    ("an answer cut off", says('{"facts": [{"content": "Al', stop="length"), "LanguageBadAnswer", 2),
    ("another schema", says({"memories": "none", "facts": "x"}), "LanguageBadAnswer", 2),
    ("an unknown kind", says({"facts": [GARDEN | {"kind": "rumour"}]}), "LanguageBadAnswer", 2),
    ("a field missing", says({"facts": [{"content": "Alice is rich"}]}), "LanguageBadAnswer", 2),
    ("more than anybody reads", Reply(endless=True), "LanguageBadAnswer", 1),
    ("silence", Reply(hangs=True), "LanguageUnavailable", 1),
    ("a byte at a time", Reply(drips=True), "LanguageUnavailable", 1),
    ("a broken connection", Reply(body=b"{" * 1000, resets=True), "LanguageUnavailable", 1),
    ("busy", refuses(429, headers={"retry-after": "20"}), "LanguageUnavailable", 1),
    ("an error of its own", refuses(500), "LanguageUnavailable", 1),
    ("a refused key", refuses(401), "LanguageRefused", 1),
]


def learning_at(url: str, opened: Open, endpoint: Endpoint, timeout: float = 10.0) -> Memory:
    return opened(url, settings=by_model(endpoint, timeout_seconds=timeout))


def assert_waits(learning: Memory, problem: str) -> None:
    waiting = learning.jobs.pending()
    assert (waiting.turns, waiting.parked, waiting.problems) == (1, 0, (problem,))
    assert rows(learning, "SELECT id FROM memories WHERE NOT is_turn") == []
    assert rows(learning, "SELECT memory_id FROM proposals") == []


@pytest.mark.parametrize(("step", "problem", "requests"), [one[1:] for one in TROUBLE], ids=[one[0] for one in TROUBLE])
def test_a_bad_day_leaves_the_turn_waiting_and_is_over_when_it_is_over(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock, step: Step, problem: str, requests: int
) -> None:
    slow = isinstance(step, Reply) and (step.hangs or step.drips)
    learning = learning_at(database_url, opened, endpoint, timeout=1.0 if slow else 10.0)
    endpoint.always = step
    view = private(learning, ALICE)
    assert view.learn([Message("user", HEDGEHOGS)]).turns == 1
    assert endpoint.count == 0  # whoever speaks waits for no model
    assert learning.jobs.wait_for_learning() == 0
    assert_waits(learning, problem)
    assert endpoint.count == requests
    learning.jobs.wait_for_learning()
    assert endpoint.count == requests  # not before it is due again
    endpoint.always = GOOD
    clock.forward(seconds=31)
    assert learning.jobs.wait_for_learning() == 1
    assert contents(view) == [GARDEN["content"]]
    waiting = learning.jobs.pending()
    assert (waiting.turns, waiting.problems) == (0, ())


def test_a_server_that_is_not_there_is_waited_for(database_url: str, opened: Open, clock: SetClock) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        learning = opened(database_url, settings=by_model(f"http://127.0.0.1:{port}"))
        view = private(learning, ALICE)
        told(learning, view, HEDGEHOGS)
        assert_waits(learning, "LanguageUnavailable")
        clock.forward(seconds=31)
        assert learning.jobs.wait_for_learning() == 0
        assert_waits(learning, "LanguageUnavailable")


def test_retries_within_a_question_are_bounded(endpoint: Endpoint, database_url: str, opened: Open) -> None:
    learning = opened(database_url, settings=by_model(endpoint, retries=1))
    endpoint.always = refuses(500)
    told(learning, private(learning, ALICE), HEDGEHOGS)
    assert endpoint.count == 2
    assert_waits(learning, "LanguageUnavailable")


def test_a_server_that_asks_to_be_left_alone_is_left_alone(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    learning = learning_at(database_url, opened, endpoint)
    endpoint.script = [refuses(429, headers={"retry-after": "300"})]
    endpoint.always = GOOD
    told(learning, private(learning, ALICE), HEDGEHOGS)
    assert endpoint.count == 1
    clock.forward(seconds=299)
    assert learning.jobs.wait_for_learning() == 0
    assert endpoint.count == 1
    clock.forward(seconds=2)
    assert learning.jobs.wait_for_learning() == 1


def test_a_turn_that_never_works_is_parked_and_can_be_tried_again(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    learning = learning_at(database_url, opened, endpoint)
    endpoint.always = refuses(500)
    view = private(learning, ALICE)
    told(learning, view, HEDGEHOGS)
    for _ in range(20):
        clock.forward(seconds=3_601)
        learning.jobs.wait_for_learning()
    assert endpoint.count == 10
    assert (learning.jobs.pending().turns, learning.jobs.pending().parked) == (0, 1)
    endpoint.always = GOOD
    assert learning.jobs.retry_learning() == 1
    assert learning.jobs.wait_for_learning() == 1
    assert contents(view) == [GARDEN["content"]]


def test_a_thread_keeps_its_order_and_other_threads_go_on(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    learning = learning_at(database_url, opened, endpoint)
    endpoint.script = [refuses(500)]
    endpoint.always = GOOD
    told(learning, private(learning, ALICE, thread="one"), HEDGEHOGS, "no, I live in Rome now")
    assert learning.jobs.pending().turns == 2
    told(learning, private(learning, ALICE, thread="two"), "by the way, I like green tea")
    assert learning.jobs.pending().turns == 2
    assert contents(private(learning, ALICE)) == ["Alice likes green tea"]
    clock.forward(seconds=31)
    assert learning.jobs.wait_for_learning() == 2
    assert learning.jobs.pending().turns == 0


def test_a_turn_that_was_erased_while_it_waited_is_never_sent(
    endpoint: Endpoint, database_url: str, opened: Open, clock: SetClock
) -> None:
    learning = learning_at(database_url, opened, endpoint)
    endpoint.always = refuses(500)
    view = private(learning, ALICE)
    told(learning, view, HEDGEHOGS)
    learning.admin.erase_person("ext:telegram:1001")
    endpoint.always = GOOD
    clock.forward(seconds=31)
    assert learning.jobs.wait_for_learning() == 0
    assert endpoint.count == 1


@pytest.mark.parametrize("step", [GOOD, *(one[1] for one in TROUBLE[:6])])
def test_neither_message_nor_answer_reaches_a_log(
    endpoint: Endpoint, database_url: str, opened: Open, caplog: pytest.LogCaptureFixture, step: Step
) -> None:
    caplog.set_level(logging.DEBUG)
    learning = learning_at(database_url, opened, endpoint)
    endpoint.always = step
    told(learning, private(learning, ALICE), HEDGEHOGS)
    assert endpoint.count
    said = "\n".join(f"{one.getMessage()} {one.__dict__}" for one in caplog.records)
    for word in ("hedgehogs", "lorem ipsum", "rumour", "Alice is rich"):
        assert word not in said
