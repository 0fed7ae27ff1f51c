"""What a model would get is shown to the letter, and looking at it changes nothing for anybody."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import tacit
from tests.console.asking import Caller
from tests.console.conftest import Visit, World, unhurried
from tests.console.seeding import ALICE, BOB, person
from tests.server.http_server import served


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """With room for few memories in a block, and an agent that may use one category."""
    settings = unhurried()
    settings = replace(settings, prompt=replace(settings.prompt, items_max=2), allowlists={"barista": ("preference",)})
    path = tmp_path_factory.mktemp("console") / "tacit.db"
    with tacit.open(f"sqlite:///{path}", embedder=None, settings=settings) as memory, served(memory, settings) as url:
        yield World(memory, url)


def test_block_and_fresh_part_are_shown_to_the_letter(shared: World, look: Visit) -> None:
    page = look("/prompt", person=ALICE)
    block = person(shared.memory, ALICE).block()
    shown = page.locator("pre").first
    assert shown.inner_text() == block.text
    expect(page.get_by_text(f"{block.tokens:,} tokens", exact=True)).to_be_visible()
    assert block.cut
    cut = [f"{category.capitalize()}: {count}" for category, count in block.cut.items()]
    expect(page.locator(".counts li")).to_have_text(cut)
    page.get_by_label("Your message").fill("What about tea?")
    page.get_by_role("button", name="Preview").click()
    fresh = person(shared.memory, ALICE).fresh("What about tea?")
    assert page.locator("pre").nth(1).inner_text() == fresh.text
    expect(page.get_by_text(f"{fresh.tokens:,} tokens of at most")).to_be_visible()


def test_style_and_agent_can_be_chosen_on_a_phone(shared: World, look: Visit) -> None:
    page = look("/prompt", person=ALICE, phone=True, dark=True)
    page.get_by_label("Style").select_option("filtered")
    page.get_by_label("Agent").select_option("barista")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("pre").first).to_contain_text("tea")
    expect(page.locator("pre").first).not_to_contain_text("Lyon")
    expect(page.get_by_label("Style")).to_have_value("filtered")


@pytest.mark.parametrize("wrong", ["style=loud", "agent=nobody", "query=" + "w" * 3_000])
def test_what_cannot_be_shown_is_said(shared: World, wrong: str) -> None:
    answer = Caller(shared, shared.cookie(person=ALICE)).get(f"/prompt?{wrong}")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text


def test_looking_changes_no_conversation(world: World) -> None:
    """Neither whose block it is nor what is new in it, whatever was asked."""
    alice = person(world.memory, ALICE)
    alice.remember("Prefers tea to coffee")
    before = alice.block()
    alice.remember("Lives in Lyon")
    news = alice.fresh("zebra")
    delta = alice.delta(before.revision)
    caller = Caller(world, world.cookie(person=ALICE))
    for path in ("/prompt", "/prompt?style=filtered&query=tea", "/prompt?style=summary"):
        assert caller.get(path).status_code == 200
    assert alice.block() == before
    assert alice.fresh("zebra") == news
    assert alice.delta(before.revision) == delta


def test_a_preview_is_of_now(world: World, visiting: Callable[[World], Visit]) -> None:
    """As in a conversation that begins with it, not as in the one that goes on."""
    alice = person(world.memory, ALICE)
    alice.remember("Prefers tea to coffee")
    alice.block()
    alice.remember("Has <u>one</u> sister")
    page = visiting(world)("/prompt", person=ALICE)
    expect(page.locator("pre").first).to_contain_text("one")
    expect(page.locator("main u")).to_have_count(0)
    theirs = Caller(world, world.cookie(person=BOB)).get("/prompt").text
    assert "The block is empty" in theirs
    assert "sister" not in theirs
