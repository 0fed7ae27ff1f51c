"""What comes round in a space, as an operator sees it and sets it going."""

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
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, OPERATOR, person
from tests.console.watching import faults, is_wider_than_its_window

PATIENCE_SECONDS = 60


def test_a_task_is_run_by_its_button_and_tells_how_it_went(seeded: World, visit: Visit) -> None:
    page = visit("/jobs", operator=OPERATOR)
    row = page.get_by_role("row").filter(has=page.get_by_text("expire", exact=True))
    expect(row).to_contain_text("never")
    assert faults(page) == []
    row.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status").first).to_contain_text("job finished")
    expect(row).to_contain_text("just now")
    (done,) = [one for one in seeded.memory.jobs.list() if one.task == "expire"]
    assert done.last is not None


def test_what_happens_meanwhile_comes_onto_the_page_by_itself(seeded: World, visit: Visit) -> None:
    page = visit("/jobs", operator=OPERATOR)
    button = page.get_by_role("row").filter(has_text="purge").get_by_role("button")
    button.focus()
    person(seeded.memory, ALICE).learn([Message("user", "I live in Lisbon")])
    expect(page.get_by_text("1 turn pending")).to_be_visible()
    expect(page.locator("[data-telling]")).to_contain_text("1 to learn")
    expect(button).to_be_focused()


def test_what_was_given_up_is_tried_again(world: World, visiting: Callable[[World], Visit]) -> None:
    person(world.memory, ALICE).learn([Message("user", "I live in Lisbon")])
    given_up = text("UPDATE jobs SET parked = 1, problem = 'StoreBusy' WHERE space_id = :space")
    space = {"space": world.memory._space}
    world.memory._storage.database.write(lambda connection: connection.execute(given_up, space))
    page = visiting(world)("/jobs", operator=OPERATOR, phone=True, dark=True, scripts=False)
    expect(page.locator(".problem")).to_contain_text("1 failed too often")
    assert not is_wider_than_its_window(page)
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("status").first).to_contain_text("Retrying one turn")
    page.get_by_role("link", name="Refresh").click()
    assert world.memory.jobs.pending().parked == 0


def test_what_has_nothing_to_work_with_is_told_on_the_page(seeded: World) -> None:
    ops = Caller(seeded, seeded.cookie(operator=OPERATOR))
    for task in ("reflect", "nonsense"):
        answer = ops.do(f"/jobs/{task}/run")
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text


def test_the_number_of_a_run_is_no_count(world: World) -> None:
    ops = Caller(world, world.cookie(operator=OPERATOR))
    last = world.memory.jobs.run("consolidate").last
    assert last is not None
    run = last.counts["run"]
    told = ops.get("/jobs").text
    assert "nothing to do" in told
    assert f"{run:,}" not in told


def test_a_task_that_fails_or_is_being_run_is_told_so(
    seeded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_went_wrong_while_the_page_waits_is_told() -> None:
    def work() -> None:
        raise Conflict("somebody else is at it")

    going = TaskRunner()
    with pytest.raises(Conflict):
        going.run(("space", "job expire"), work)
    assert not going.is_running(("space", "job expire"))
    going._executor.shutdown()
