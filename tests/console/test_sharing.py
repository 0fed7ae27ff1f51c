"""Who may hear a memory: shown before it is changed, and whom it never reaches."""

from playwright.sync_api import Page, expect

from tests.console.asking import Caller
from tests.console.conftest import COOKIE, Visit, World
from tests.console.seeding import ALICE, BOB, in_the_room
from tests.console.test_memory import TEA, memory_that_says, path_of, press, told

ANYWHERE, ROOM = "Shareable", "This group"
MINE = "Private"


def listed(page: Page, name: str) -> str:
    return page.get_by_role("region", name=name, exact=True).inner_text()


def test_who_could_hear_it_is_told_before_it_is_changed(seeded: World, visit: Visit) -> None:
    page = visit(path_of(seeded), person=ALICE)
    page.locator("#main").get_by_role("link", name="Visibility").click()
    expect(page.get_by_text("Current visibility.")).to_be_visible()
    assert "Group telegram:-100: you, Bob" in listed(page, "Cannot see it")
    page.get_by_label(ANYWHERE).check()
    expect(page.locator("#preview").get_by_text("1 group more could see it.")).to_be_visible()
    gains = listed(page, "Could see it after the change")
    assert "Group telegram:-100: you, Bob" in gains
    assert "because its owner asks and lets it be said" in gains
    assert "You, in private" in listed(page, "Could still see it")
    assert "Bob, in private" in listed(page, "Cannot see it")
    expect(page.locator("[data-telling]")).to_have_text("1 group more could see it.")
    assert memory_that_says(seeded, TEA).visibility == "private_only"
    press(page, "Change visibility")
    told(page, "Visibility changed.")
    assert memory_that_says(seeded, TEA).visibility == "public_ok"
    press(page, "Undo")
    told(page, "Undone.")
    assert memory_that_says(seeded, TEA).visibility == "private_only"


def test_what_is_taken_back_from_a_room_is_told_too(seeded: World, visit: Visit) -> None:
    page = visit(f"{path_of(seeded, 'The release is on Thursday')}/visibility", person=ALICE)
    page.get_by_label(MINE).check()
    gone = "Could no longer see it"
    expect(page.locator("#preview").get_by_text("1 group and 1 person could no longer see")).to_be_visible()
    assert "Group telegram:-100: you, Bob" in listed(page, gone)
    assert "Bob, in private" in listed(page, gone)


def test_what_is_sensitive_reaches_no_room_whatever_is_chosen(shared: World, look: Visit) -> None:
    page = look(f"{path_of(shared, 'Is allergic to walnuts')}/visibility", person=ALICE)
    page.get_by_label(ANYWHERE).check()
    expect(page.locator("#preview").get_by_text("The same people and groups could see it.")).to_be_visible()
    assert "because it is sensitive" in listed(page, "Cannot see it")


def test_what_is_withheld_from_somebody_never_reaches_them(seeded: World, visit: Visit) -> None:
    words = "The release is on Thursday"
    page = visit(path_of(seeded, words), person=ALICE)
    page.get_by_role("link", name="Withhold…").click()
    page.get_by_label("Person").fill("Bob")
    page.keyboard.press("Enter")
    told(page, "Withheld. Until that name is linked to an account, only you see it.")  # he alone calls himself so
    expect(page.locator("dt:text-is('Visibility') + dd")).to_have_text(
        f"{ROOM}; withheld from Bob. Until that name is linked to an account, only you see it"
    )
    assert f"ext:{BOB}" in memory_that_says(seeded, words).withheld_from
    assert words not in [one.content for one in in_the_room(seeded.memory, BOB).list()]


def test_a_name_that_nobody_has_is_asked_about_first(seeded: World) -> None:
    alice, path = Caller(seeded, seeded.cookie(person=ALICE)), f"{path_of(seeded)}/withhold"
    for sure in ("", "Bob"):
        asked = alice.do(path, who="Bobby", sure=sure)
        assert asked.status_code == 422
        assert "ou know no person with this name" in asked.text
        assert "until that name is linked to an account, only you see it" in asked.text
    assert not memory_that_says(seeded, TEA).withheld_from
    done = alice.do(path, who="Bobby", sure="Bobby")
    note = done.headers["Set-Cookie"].partition(";")[0]
    shown = alice.get(done.headers["Location"], Cookie=f"{COOKIE}={alice.cookie}; {note}").text
    assert "Until that name is linked to an account, only you see it." in shown
    assert memory_that_says(seeded, TEA).withheld_unknown


def test_what_is_theirs_is_not_withheld_from_themselves(seeded: World) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    for who in ("Alice", ALICE):
        refused = alice.do(f"{path_of(seeded)}/withhold", who=who)
        assert refused.status_code == 422
        assert "owns the memory" in refused.text
    assert not memory_that_says(seeded, TEA).withheld_from
