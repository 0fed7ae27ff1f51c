"""What a model would get is shown to the letter, and looking at it changes nothing for anybody."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import tacit
from tests.console.asking import Caller
from tests.console.conftest import Visit, World, unhurried
from tests.console.seeding import ALICE, person
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
