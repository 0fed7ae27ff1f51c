"""Every block of code on every page is run, or read, or has a reason here why not.

A page's blocks run in order, in one world: Python, lines of a shell, files, and what comes of them.
"""

import pytest

from tests.docs.blocks import blocks, pages
from tests.docs.conftest import WorldOf
from tests.docs.reading import NEEDS, Reading, needed

# Pages whose examples are to say the same where recall goes by meaning too.
BY_MEANING = ("README.md", "docs/cli.md", "docs/quickstart.md")
LANGUAGES = {"", "console", "json", "markdown", "python", "sh", "sql", "text", "toml", "yaml"}


@pytest.mark.parametrize("page", pages())
def test_what_a_page_shows_is_what_happens(page: str, world_of: WorldOf) -> None:
    Reading(world_of(page)).read(blocks(page))


@pytest.mark.parametrize("page", BY_MEANING)
def test_it_happens_with_the_model_that_finds_by_meaning_too(
    page: str, world_of: WorldOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_EMBEDDING_PROVIDER", "local")
    Reading(world_of(page)).read([one for one in blocks(page) if one.language != "sh"])


@pytest.mark.parametrize("page", pages())
def test_every_block_says_what_it_is(page: str) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.where}: {block.language}"
        assert not block.indented, f"{block.where}: a site shows it as code only at the margin"
        if block.language in ("", "text"):
            assert block.output or block.file, f"{block.where}: of what is this the output?"


def test_what_is_said_to_be_needed_is_needed() -> None:
    written = [block for page in pages() for block in blocks(page) if block.language == "sh"]
    for name in NEEDS:
        assert any(name in needed(block) for block in written), name
