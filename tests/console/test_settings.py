"""How the server is set up, without anything that is a secret."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import expect

import tacit
from tacit.console.pages.admin import SECRET_PLACEHOLDER, group_settings
from tacit.settings import Settings, key_names
from tests.console.conftest import Visit, World, unhurried
from tests.console.seeding import OPERATOR
from tests.server.http_server import served

SECRET = "sk-not-for-anybodys-eyes"


def kept_secret() -> Settings:
    made = unhurried()
    return replace(
        made,
        db=replace(made.db, dsn=f"postgresql://me:{SECRET}@host/tacit"),
        embedding=replace(made.embedding, url=f"https://{SECRET}.example", api_key=SECRET),
        telegram=replace(made.telegram, token_env=SECRET, webhook_url=f"https://h/{SECRET}"),
        prompt=replace(made.prompt, conversation_gap=timedelta(minutes=90)),
        jobs=replace(made.jobs, every=replace(made.jobs.every, purge=None)),
    )


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    path = tmp_path_factory.mktemp("console") / "tacit.db"
    with (
        tacit.open(f"sqlite:///{path}", embedder=None, settings=unhurried()) as memory,
        served(memory, kept_secret()) as url,
    ):
        yield World(memory, url)


def test_settings_and_counts_are_shown_and_no_secret_is(look: Visit) -> None:
    page = look("/settings", operator=OPERATOR)
    expect(page.get_by_text("full text")).to_be_visible()
    expect(page.get_by_text("6 active")).to_be_visible()
    expect(page.get_by_text(tacit.__version__, exact=True)).to_be_visible()
    page.locator("summary").filter(has_text="prompt").click()
    expect(page.get_by_text("1h30m", exact=True)).to_be_visible()
    assert SECRET not in page.content()


def test_every_setting_is_there_and_says_whether_it_is_set() -> None:
    shown = {one.key: one for group in group_settings(kept_secret()).values() for one in group}
    assert {*key_names()} <= {*shown}
    assert not [one for one in shown.values() if SECRET in one.value + (one.usual or "")]
    assert shown["embedding.api_key"].value == shown["db.dsn"].value == SECRET_PLACEHOLDER
    assert shown["language.api_key_env"].value == "none"
    gap = shown["prompt.conversation_gap"]
    assert (gap.value, gap.usual) == ("1h30m", "1h")
    assert shown["jobs.every.purge"].value == "off"
    assert shown["learn.confirm"].usual is None
    assert shown["learn.confirm"].variable == "TACIT_LEARN_CONFIRM"
    assert shown["allowlists"].variable is None
