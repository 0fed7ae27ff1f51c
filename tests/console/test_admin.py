"""Pages of operators: jobs, the doctor and keys; and one story of upkeep on each database."""

import re
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from sqlalchemy import text

from tacit import Message
from tacit.admin.jobs import Jobs
from tacit.console import site
from tacit.console.site import TaskRunner
from tacit.errors import Conflict, StoreBusy
from tacit.records.accounts import Scope
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, OPERATOR, person
from tests.console.watching import faults

PATIENCE_SECONDS = 60


def test_a_task_is_run_by_its_button_and_tells_how_it_went(seeded: World, visit: Visit) -> None:
    page = visit("/jobs", operator=OPERATOR)
    row = page.get_by_role("row").filter(has=page.get_by_text("expire", exact=True))
    expect(row).to_contain_text("never")
    row.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status").first).to_contain_text("job finished")
    expect(row).to_contain_text("just now")
    (done,) = [one for one in seeded.memory.jobs.list() if one.task == "expire"]
    assert done.last is not None


def test_what_was_given_up_is_tried_again(world: World, visiting: Callable[[World], Visit]) -> None:
    person(world.memory, ALICE).learn([Message("user", "I live in Lisbon")])
    given_up = text("UPDATE jobs SET parked = 1, problem = 'StoreBusy' WHERE space_id = :space")
    space = {"space": world.memory._space}
    world.memory._storage.database.write(lambda connection: connection.execute(given_up, space))
    page = visiting(world)("/jobs", operator=OPERATOR, phone=True, dark=True, scripts=False)
    expect(page.locator(".problem")).to_contain_text("1 failed too often")
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("status").first).to_contain_text("Retrying one turn")
    page.get_by_role("link", name="Refresh").click()
    assert world.memory.jobs.pending().parked == 0


def test_a_task_that_fails_or_is_being_run_is_told_so(seeded: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ops = Caller(seeded, seeded.cookie(operator=OPERATOR))

    def fails(_: Jobs, task: str) -> None:
        raise StoreBusy(task) if task == "purge" else Conflict(f"{task} is being run by another")

    monkeypatch.setattr(Jobs, "run", fails)
    failed = ops.do("/jobs/purge/run")
    assert (failed.status_code, failed.headers["location"]) == (303, "/jobs")
    assert "job-failed" in failed.headers["set-cookie"]
    taken = ops.do("/jobs/expire/run")
    assert taken.status_code == 409
    assert "Expire is being run by another" in taken.text


def test_what_takes_long_goes_on_without_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "TASK_WAIT_SECONDS", 0.01)
    going, begun, done = TaskRunner(), threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        done.wait(PATIENCE_SECONDS)
        return "found"

    name = ("space", "doctor")
    assert not going.run(name, work)
    assert begun.wait(PATIENCE_SECONDS)
    assert going.is_running(name)
    assert going.last_result(name) is None
    assert not going.run(name, lambda: pytest.fail("it was begun twice"))
    done.set()
    monkeypatch.setattr(site, "TASK_WAIT_SECONDS", PATIENCE_SECONDS)
    going.run(("space", "other"), lambda: None)
    going._executor.shutdown()
    found = going.last_result(name)
    assert found is not None
    assert found.result == "found"
    assert not going.is_running(name)


def test_what_is_wrong_is_told_in_plain_words_and_changed_by_nobody(seeded: World, visit: Visit) -> None:
    id = person(seeded.memory, ALICE).remember("Has a cat").id
    broken = text("DELETE FROM history WHERE memory_id = :id")
    seeded.memory._storage.database.write(lambda connection: connection.execute(broken, {"id": id}))
    page = visit("/doctor", operator=OPERATOR, phone=True)
    page.get_by_role("button", name="Check the space").click()
    heading = page.get_by_role("heading", name="Memories have no first history entry")
    expect(heading).to_be_visible()
    expect(page.get_by_text("1 found, 1 of them can be repaired")).to_be_visible()
    page.get_by_text("Some of the memories").click()
    expect(page.get_by_role("link", name=id)).to_have_attribute("href", f"/memories/{id}")
    expect(page.locator("main")).not_to_contain_text("cat")
    assert faults(page) == []
    assert not seeded.memory.admin.doctor().healthy


def test_a_look_that_takes_long_comes_onto_the_page_when_it_is_done(
    world: World, visiting: Callable[[World], Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "TASK_WAIT_SECONDS", 0)
    page = visiting(world)("/doctor", operator=OPERATOR)
    page.get_by_role("button", name="Check the space").click()
    expect(page.get_by_text("No problems found.")).to_be_visible()


ODD = "<b>bot</b> & co"


def test_a_token_is_shown_once_and_opens_what_it_says(world: World, visiting: Callable[[World], Visit]) -> None:
    page = visiting(world)("/keys", operator=OPERATOR)
    page.get_by_role("link", name="Create a key").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill(ODD)
    form.get_by_label("Read visible memories").check()
    form.get_by_label("For one person").fill("telegram:1001")
    form.get_by_text("Only some categories").click()
    form.get_by_label("Preference").check()
    form.get_by_label("Expires after (days)").fill("30")
    assert faults(page) == []
    form.get_by_role("button", name="Create key").click()
    token = page.get_by_label("Token of").input_value()
    assert faults(page) == []
    key = world.memory.keys.authenticate(token)
    assert key is not None
    assert (key.name, key.requester) == (ODD, "telegram:1001")
    assert key.scopes == {Scope.READ}
    assert key.categories == ("preference",)
    assert key.expires_at is not None
    assert token not in page.url
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text(ODD).first).to_be_visible()
    assert token not in page.content()
    assert page.locator("main b").count() == 0


def test_a_key_is_revoked_after_a_question(world: World, visiting: Callable[[World], Visit]) -> None:
    made = world.memory.keys.create("bot", scopes=["read", "act-as"])
    page = visiting(world)("/keys", operator=OPERATOR, phone=True, dark=True)
    expect(page.get_by_text("any requester")).to_be_visible()
    page.get_by_role("link", name="Revoke bot").click()
    page.get_by_role("dialog").get_by_role("link", name="Cancel").click()
    assert world.memory.keys.authenticate(made.token) is not None
    page.get_by_role("link", name="Revoke bot").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("was revoked")
    expect(page.get_by_text("Revoked", exact=True)).to_be_visible()
    assert world.memory.keys.authenticate(made.token) is None


def test_keys_of_another_space_are_not_there(world: World, seeded: World) -> None:
    other = world.memory.space("elsewhere").keys.create("theirs", scopes=["read"])
    ops = Caller(seeded, seeded.cookie(operator=OPERATOR))
    assert "theirs" not in ops.get("/keys").text
    absent = ops.get("/keys/nothing/revoke").text
    assert ops.get(f"/keys/{other.key.id}/revoke").text == absent
    assert ops.do(f"/keys/{other.key.id}/revoke").status_code == 404
    assert world.memory.keys.authenticate(other.token) is not None


def test_what_is_wrong_is_said_of_its_field(world: World) -> None:
    ops = Caller(world, world.cookie(operator=OPERATOR))
    for field, value in (
        ("requester", "nobody"),
        ("expires_days", "0"),
        ("categories", "no-such"),
        ("rate_per_minute", "many"),
        ("name", ""),
    ):
        fields = {"name": "bot", "scopes": "read", field: value}
        answer = ops.do("/keys", **fields)
        assert answer.status_code == 422, field
        assert f'id="{field}-problem"' in answer.text
    assert world.memory.keys.list() == []


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
