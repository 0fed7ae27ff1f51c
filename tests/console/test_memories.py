"""The first page: what is remembered, searched as you type, narrowed, paged and changed."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, person
from tests.console.test_memory import memory_that_says, press, told
from tests.console.watching import faults_by_day_and_night

TEA, NUTS, LYON, RELEASE = (
    "Prefers tea to coffee",
    "Is allergic to walnuts",
    "Lives in Lyon",
    "The release is on Thursday",
)


def shown(page: Page) -> list[str]:
    """What is listed, newest first, once the page is no longer waiting for it."""
    expect(page.locator("#found[aria-busy]")).to_have_count(0)
    return page.locator("#found .card .words").all_inner_texts()


def address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def choose(page: Page, *words: str) -> None:
    for one in words:
        page.get_by_role("checkbox", name=f"Select: {one}").check()


def test_each_is_told_with_its_badges_its_source_and_its_age(look: Visit) -> None:
    page = look(person=ALICE)
    expect(page.get_by_text("4 memories")).to_be_visible()
    assert shown(page) == [RELEASE, LYON, NUTS, TEA]
    lyon = page.get_by_role("listitem").filter(has_text=LYON)
    for badge in ("Pinned", "Profile", "Shareable", "Personal"):
        expect(lyon.get_by_text(badge, exact=True)).to_be_visible()
    expect(lyon).to_contain_text("Said by you in private")
    expect(lyon.get_by_text("just now")).to_be_visible()
    room = page.get_by_role("listitem").filter(has_text=RELEASE)
    expect(room).to_contain_text("Said by you in telegram:-100")


def test_results_come_as_one_types_and_the_address_keeps_step(look: Visit) -> None:
    page = look(person=ALICE)
    page.get_by_role("searchbox", name="Search").press_sequentially("wal", delay=20)
    expect(page.locator("#found .card")).to_have_count(1)
    assert shown(page) == [NUTS]
    expect(page.locator("[data-telling]")).to_have_text("1 memory")
    assert address(page) == {"words": ["wal"]}
    page.reload()
    assert shown(page) == [NUTS]
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("wal")


CHOICES = {
    "Kind": ("Knowledge", [RELEASE, LYON, NUTS, TEA]),
    "Category": ("Profile", [LYON, NUTS]),
    "Visibility": ("Shareable", [LYON]),
    "Sensitivity": ("Sensitive", [NUTS]),
    "State": ("Forgotten", []),
}
WRITTEN = {
    "Chat of origin": ("telegram:-100", [RELEASE]),
    "About": ("Bob", []),
    "From": ("2999-01-01", []),
    "Until": ("2999-01-01", [RELEASE, LYON, NUTS, TEA]),
}


def test_what_is_shown_is_narrowed_by_each_filter(look: Visit) -> None:
    page = look(person=ALICE)
    page.get_by_text("Filters").click()
    for name, (choice, found) in (CHOICES | WRITTEN).items():
        field = page.get_by_label(name, exact=True)
        with page.expect_response(lambda answer: "/?" in answer.url):
            if name in CHOICES:
                field.select_option(label=choice)
            else:
                field.fill(choice)
        expect(page.locator("#found .card")).to_have_count(len(found))
        assert shown(page) == found, name
        assert len(address(page)) == 1, name
        with page.expect_response("**/"):
            field.select_option("") if name in CHOICES else field.fill("")
    page.get_by_label("Pinned only").check()
    expect(page.locator("#found .card")).to_have_count(1)
    assert shown(page) == [LYON]
    page.get_by_role("link", name="Clear").click()
    assert len(shown(page)) == 4


def test_older_ones_are_a_page_further(world: World, visiting: Callable[[World], Visit]) -> None:
    alice = person(world.memory, ALICE)
    for number in range(60):
        alice.remember(f"Thing {number}", category="fact")
    page = visiting(world)("/?category=fact", person=ALICE)
    expect(page.get_by_text("60 memories")).to_be_visible()
    assert len(shown(page)) == 50
    page.get_by_role("link", name="Older").click()
    assert shown(page) == [f"Thing {number}" for number in reversed(range(10))]
    assert address(page)["category"] == ["fact"]
    page.get_by_role("link", name="Newest").click()
    assert shown(page)[0] == "Thing 59"


def test_several_are_forgotten_by_keyboard_and_taken_back(seeded: World, page: Page) -> None:
    forget = page.get_by_role("button", name="Forget")
    expect(forget).to_have_count(0)
    for words in (TEA, NUTS):
        page.get_by_role("checkbox", name=f"Select: {words}").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Enter")  # does nothing
    expect(page.get_by_text("2 selected")).to_be_visible()
    forget.focus()
    page.keyboard.press("Enter")
    told(page, "2 forgotten.")
    assert shown(page) == [RELEASE, LYON]
    press(page, "Undo")
    told(page, "Undone for 2.")
    assert shown(page) == [RELEASE, LYON, NUTS, TEA]


def test_the_visibility_of_several_is_changed_and_each_gets_its_own_back(seeded: World, page: Page) -> None:
    choose(page, RELEASE, LYON)
    page.get_by_label("Visibility of the selected memories").select_option("private_only")
    press(page, "Change")
    told(page, "Visibility of 2 changed.")
    assert memory_that_says(seeded, LYON).visibility == "private_only"
    press(page, "Undo")
    told(page, "Undone for 2.")
    assert memory_that_says(seeded, LYON).visibility == "public_ok"
    assert memory_that_says(seeded, RELEASE).visibility == "room"


def test_it_is_shown_who_could_hear_several_before_more_people_do(seeded: World, page: Page) -> None:
    choose(page, TEA, LYON)
    page.get_by_label("Visibility of the selected memories").select_option("public_ok")
    press(page, "Change")
    gains = page.locator(".audience.gains li")
    expect(gains).to_have_count(1)
    expect(gains).to_contain_text("Group telegram:-100: you, Bob")
    expect(page.get_by_role("listitem").filter(has_text=LYON)).to_contain_text("shown to no more people")
    assert memory_that_says(seeded, TEA).visibility == "private_only"
    assert faults_by_day_and_night(page) == []
    press(page, "Change 2")
    told(page, "Visibility changed.")
    assert memory_that_says(seeded, TEA).visibility == "public_ok"
    press(page, "Undo")
    assert memory_that_says(seeded, TEA).visibility == "private_only"


@pytest.mark.parametrize("sure", ["", "1", "private_only"])
def test_nothing_is_raised_unasked(seeded: World, sure: str) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    id = memory_that_says(seeded, TEA).id
    asked = alice.do("/chosen", act="visibility", to="public_ok", sure=sure, id=id)
    assert asked.status_code == 200
    assert memory_that_says(seeded, TEA).visibility == "private_only"
    done = alice.do("/chosen", act="visibility", to="public_ok", sure="public_ok", id=id)
    assert done.status_code == 303
    assert memory_that_says(seeded, TEA).visibility == "public_ok"


def test_what_was_refused_is_told_with_the_reason(seeded: World, visit: Visit) -> None:
    alice = person(seeded.memory, ALICE)
    tea, release = memory_that_says(seeded, TEA).id, memory_that_says(seeded, RELEASE).id
    alice.forget(tea)
    alice.update(release, "The release is on Friday")
    page = visit("/?state=any", person=ALICE)
    choose(page, TEA, RELEASE, LYON)
    press(page, "Restore")
    expect(page.get_by_role("heading", name="Not all were changed")).to_be_visible()
    told(page, "1 of 3: Restored.")
    expect(page.get_by_text("1 needed no change.")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("1 was not changed")
    expect(page.get_by_text("This memory was superseded by a newer one")).to_be_visible()
    expect(page.get_by_role("link", name=RELEASE)).to_be_visible()
    assert faults_by_day_and_night(page) == []
    assert alice.show(tea).state == "active"
    press(page, "Undo")
    assert alice.show(tea).state == "forgotten"


def test_several_are_erased_by_a_typed_word(seeded: World, page: Page) -> None:
    choose(page, TEA, NUTS)
    press(page, "Erase…")
    expect(page.get_by_role("heading", name="Erase 2 permanently")).to_be_visible()
    assert shown_to_be_erased(page) == [NUTS, TEA]
    assert faults_by_day_and_night(page) == []
    page.get_by_label("To continue, type erase").fill("no")
    press(page, "Erase 2")
    expect(page.locator("#word-problem")).to_contain_text("type the word erase")
    assert person(seeded.memory, ALICE).browse_count() == 4
    page.get_by_label("To continue, type erase").fill("erase")
    press(page, "Erase 2")
    expect(page.get_by_text("2 memories erased permanently.")).to_be_visible()
    expect(page.get_by_role("region", name="Certificate")).to_have_count(2)
    page.get_by_role("link", name="Back to memories").click()
    assert shown(page) == [RELEASE, LYON]


def shown_to_be_erased(page: Page) -> list[str]:
    return page.locator("form.confirm .words").all_inner_texts()


def test_many_are_changed_without_scripts_and_what_was_looked_for_stays(seeded: World, visit: Visit) -> None:
    page = visit("/?category=profile", person=ALICE, scripts=False)
    press(page, "Forget")
    told(page, "Select memories first")
    choose(page, NUTS)
    press(page, "Forget")
    told(page, "Forgotten.")
    assert shown(page) == [LYON]
    assert address(page) == {"category": ["profile"]}


def test_one_is_found_reworded_and_forgotten_on_either_database(
    anywhere: World, visiting: Callable[[World], Visit]
) -> None:
    page = visiting(anywhere)(person=ALICE)
    page.get_by_role("searchbox", name="Search").fill("COFF")
    expect(page.locator("#found .card")).to_have_count(1)
    page.get_by_role("link", name=TEA).click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_role("textbox", name="Text").fill("Prefers green tea")
    press(page, "Save")
    expect(page.locator(".timeline ins")).to_have_text("green")
    page.locator("#main").get_by_role("link", name="Visibility").click()
    page.get_by_label("Shareable").check()
    press(page, "Change visibility")
    press(page, "Forget")
    press(page, "Undo")
    told(page, "Undone.")
    memory = memory_that_says(anywhere, "Prefers green tea")
    assert (memory.state, memory.visibility, memory.version) == ("active", "public_ok", 2)
