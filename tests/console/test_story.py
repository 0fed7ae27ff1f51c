"""One story through the pages of upkeep, on each database."""

import re

from tests.console.asking import Caller
from tests.console.conftest import World
from tests.console.seeding import ALICE, OPERATOR, person


def test_a_person_answers_and_an_operator_looks_after_the_space(anywhere: World) -> None:
    memory = anywhere.memory
    alice = person(memory, ALICE)
    alice.put("preference", "drink", "green tea")
    alice.proposals.propose_public("preference", "drink")
    (asked,) = alice.proposals.list()
    visitor = Caller(anywhere, anywhere.cookie(person=ALICE))
    assert "green tea" in visitor.get("/review").text
    assert visitor.do(f"/review/{asked.id}/approve").status_code == 303
    assert alice.proposals.list() == []
    assert "green tea" in visitor.get("/prompt?query=tea").text

    ops = Caller(anywhere, anywhere.cookie(operator=OPERATOR))
    assert ops.do("/jobs/expire/run").status_code == 303
    assert "just now" in ops.get("/jobs").text
    assert ops.do("/jobs/retry").status_code == 303
    assert "No problems found." in ops.do("/doctor").text
    made = ops.do("/keys", name="bot", scopes="read").text
    found = re.search(r'id="token"[^>]* value="([^"]+)"', made)
    assert found is not None
    key = memory.keys.authenticate(found[1])
    assert key is not None
    assert ops.do(f"/keys/{key.id}/revoke").status_code == 303
    assert memory.keys.authenticate(found[1]) is None
    assert "7 active" in ops.get("/settings").text
