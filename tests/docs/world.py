"""What a reader of a page has: an empty home, a served memory, a model, a database.

What is on a page in place of theirs (`http://localhost:8377`, `tct_…`) is what is here.
"""

import asyncio
import gc
import json
import os
import re
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tests.bots.bot_api import TOKEN as TELEGRAM_TOKEN
from tests.bots.bot_api import BotApi, bot_api
from tests.bots.slack_api import TOKEN as SLACK_TOKEN
from tests.bots.slack_api import slack_api
from tests.docs.models import SCRIPTS
from tests.llm.endpoint import Endpoint, serving
from tests.server.http_server import served

SERVER = re.compile(r"http://(?:localhost|127\.0\.0\.1):8377")
MODEL = re.compile(r"http://(?:localhost|127\.0\.0\.1):11434")
POSTGRES = re.compile(r"postgresql://user@host/name")
TOKEN = re.compile(r"(?<=[\"' ])tct_…(?=[\"'])")
# Said to all tests; what else the developer has set is not for readers.
OURS = {"TACIT_EMBEDDING_PROVIDER", "TACIT_JOBS_ON_OPEN", "TACIT_TEST_POSTGRES"}
# What people have from elsewhere: on a page an ellipsis stands in it.
GIVEN = {
    "TELEGRAM_BOT_TOKEN": TELEGRAM_TOKEN,
    "SLACK_BOT_TOKEN": SLACK_TOKEN,
    "SLACK_SIGNING_SECRET": "of-the-app",
    "OPENAI_API_KEY": "of-the-account",
    "ANTHROPIC_API_KEY": "of-the-account",
}


class World:
    """Of one page: what its blocks leave behind, the next ones find."""

    def __init__(
        self, page: str, root: Path, patch: pytest.MonkeyPatch, ends: ExitStack, postgres: Callable[[], str]
    ) -> None:
        self.page, self.root, self.ends, self._patch = page, root, ends, patch
        self._postgres = postgres
        self.home = root / "home" / "me"
        self.home.mkdir(parents=True)
        self.variables: dict[str, str] = {}  # of the shell, told by the page in words: $ID
        self.address = ""  # of a server that the page started
        self.token = ""  # of the last key that the page made
        for name in [n for n in os.environ if n.startswith("TACIT_")]:
            if name not in OURS:
                patch.delenv(name)
        patch.setenv("HOME", str(self.home))
        patch.chdir(self.home)
        if page in SCRIPTS:
            self._have_a_model()

    @cached_property
    def module(self) -> ModuleType:
        """In which its Python runs. Libraries look for the names of a class in its module."""
        made = ModuleType(re.sub(r"\W", "_", self.page))
        self._patch.setitem(sys.modules, made.__name__, made)
        # Libraries that wait for something asynchronous take the loop that is there, or leave one.
        first = asyncio.new_event_loop()
        asyncio.set_event_loop(first)
        self.ends.callback(self._end_of_process, first)
        gc.freeze()  # what is there already need not be looked through in the end
        return made

    def here(self, written: str) -> str:
        """With the addresses and tokens of this world."""
        written = SERVER.sub(lambda _: self.url, written)
        written = MODEL.sub(lambda _: self.model.url, written)
        written = POSTGRES.sub(lambda _: self.postgres, written)
        return TOKEN.sub(lambda _: self.token or self.adapter_key, written)

    def there(self, printed: str) -> str:
        """As it would be in the reader's."""
        for ours in (self.address, self.__dict__.get("_url", "")):
            printed = printed.replace(ours, "http://127.0.0.1:8377") if ours else printed
        return printed.replace(str(self.home), "/home/me").replace(str(self.root), "")

    def set(self, name: str, value: str) -> None:
        self._patch.setenv(name, GIVEN[name] if "…" in value else value)

    def variable(self, name: str) -> str | None:
        if name == "KEY":
            return self.adapter_key
        return self.variables.get(name, os.environ.get(name))

    @property
    def postgres(self) -> str:
        return self._postgres()

    @property
    def url(self) -> str:
        """The server that the page started, or one that is there anyway."""
        return self.address or self._url

    @cached_property
    def _url(self) -> str:
        return self.ends.enter_context(served(self._memory, Settings(), local=True))

    @cached_property
    def _memory(self) -> Memory:
        return self.ends.enter_context(tacit.open())

    @cached_property
    def adapter_key(self) -> str:
        made = self._memory.keys.create("adapter", scopes=["read", "write", "act-as"])
        return made.token

    @cached_property
    def model(self) -> Endpoint:
        endpoint = self.ends.enter_context(serving())
        endpoint.script = list(SCRIPTS[self.page])
        self.ends.callback(self._assert_all_was_said)
        return endpoint

    def _assert_all_was_said(self) -> None:
        assert not self.model.script, f"{self.page}: the model was not asked for all that it says"

    def _have_a_model(self) -> None:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            self.set(name, "…")
        self._patch.setenv("ANTHROPIC_BASE_URL", self.model.url)
        self._patch.setenv("OPENAI_BASE_URL", f"{self.model.url}/v1")

    def have_telegram(self) -> BotApi:
        api = self.ends.enter_context(bot_api())
        self._patch.setenv("TACIT_TELEGRAM_API_URL", api.url)
        self._patch.setenv("TACIT_TELEGRAM_PORT", "0")
        return api

    def have_slack(self) -> None:
        api = self.ends.enter_context(slack_api())
        self._patch.setenv("TACIT_SLACK_API_URL", api.api_url)
        self._patch.setenv("TACIT_SLACK_PORT", "0")

    def log_of(self, command: str) -> Path:
        return self.root / f"{command}.log"

    def logged(self, event: str) -> list[dict[str, Any]]:
        """By the server that the page started."""
        lines = map(json.loads, self.log_of("serve").read_text().splitlines())
        return [line for line in lines if line["event"] == event]

    def have_a_port(self) -> None:
        """One that is free, as the port of the settings is for most readers."""
        with socket.create_server(("127.0.0.1", 0)) as found:
            self._patch.setenv("TACIT_SERVER_PORT", str(found.getsockname()[1]))

    def _end_of_process(self, first: asyncio.AbstractEventLoop) -> None:
        """What the page opened and did not close is closed; what else is left shows now, and not
        in a test to come."""
        for value in self.module.__dict__.values():
            if isinstance(value, Memory):
                value.close()
        self.module.__dict__.clear()
        first.close()
        with suppress(RuntimeError):  # there is none by now
            asyncio.get_event_loop().close()
        asyncio.set_event_loop(None)
        gc.collect()
