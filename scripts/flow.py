"""Print how many files of the package one operation runs through.

    python -m scripts.flow [--files]    (--files: name them, too)

Every operation is done once before it is counted, so that imports and first-time set-up do not
count; module-level code never does. Functions in threads count as well. Background workers are off:
only the flow `learn` works through what was queued. The library has the embedder that is installed;
the Telegram bot has neither an embedder nor a language model. It always ends with exit code 0.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.testclient import TestClient

import tacit
from tacit.server.app import create_app
from tacit.settings import Settings
from tests.bots.bot_api import bot_api
from tests.bots.bot_updates import message, private, user
from tests.bots.chats import Scenario, staged
from tests.bots.telegram_driver import telegram_driver
from tests.bots.telegram_stage import connected

SOURCE = str(Path(__file__).parents[1] / "src" / "tacit") + "/"
LIMITS = {"get": 8, "remember": 20, "recall": 22, "learn": 45, "REST POST": 30, "Telegram": 50}
SETTLED_SECONDS = 30

Flow = Callable[[int], object]  # is told whether it runs for the first or the second time


class Profile:
    """Notes whose functions are called while `counting`; installed before any thread starts."""

    def __init__(self) -> None:
        self.counting = False
        self.functions: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if not self.counting or event != "call" or code.co_name == "<module>":
            return
        if code.co_filename.startswith(SOURCE):
            self.functions.add((code.co_filename.removeprefix(SOURCE), code.co_qualname))

    def of(self, flow: Flow) -> tuple[list[str], int]:
        """The files and the number of functions that a flow calls the second time."""
        flow(1)
        self.functions.clear()
        self.counting = True
        try:
            flow(2)
        finally:
            self.counting = False
        return sorted({file for file, _ in self.functions}), len(self.functions)


@contextmanager
def flows() -> Iterator[dict[str, Flow]]:
    settings = Settings()
    settings = replace(settings, learn=replace(settings.learn, workers=0), jobs=replace(settings.jobs, on_open=False))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        memory = stack.enter_context(tacit.open(folder / "memory.sqlite", settings=settings))
        alice = tacit.Requester("telegram:1001", name="Alice")
        view = memory.view(alice, tacit.Chat.private(alice.key))
        view.put("profile", "timezone", "Europe/Lisbon")
        token = memory.keys.create("flow", scopes=["read", "write"], requester=alice.key).token
        client = stack.enter_context(TestClient(create_app(memory, settings, local=False), base_url="http://localhost"))

        def learn(time: int) -> None:
            view.learn([tacit.Message("user", f"My cat is called {('Tom', 'Tim')[time - 1]}")])
            memory.jobs.wait_for_learning()

        def post(time: int) -> None:
            headers = {"Authorization": f"Bearer {token}"}
            sent = {"content": f"I like tea number {time}"}
            assert client.post("/api/remember", json=sent, headers=headers).status_code < 300

        yield {
            "get": lambda _: view.get("profile", "timezone"),
            "remember": lambda time: view.remember(f"The boat has {time} sails"),
            "recall": lambda _: view.recall("how many sails has the boat?"),
            "learn": learn,
            "REST POST": post,
            "Telegram": stack.enter_context(telegram(folder)),
        }


@contextmanager
def telegram(folder: Path) -> Iterator[Flow]:
    """A message to the bot in a private chat, and its answer; Telegram's side is emulated."""
    scenario = Scenario("flow", lambda _: None, answer=None)
    with (
        staged(f"sqlite:///{folder / 'bot.sqlite'}", scenario) as stage,
        bot_api() as api,
        connected(api) as line,
        telegram_driver(stage, api, line) as driver,
    ):

        def say(time: int) -> None:
            before = len(api.sent)
            said = message(private(1001), user(1001), f"What is my name? {time}", message_id=time)
            api.wait_confirmed(api.deliver({"message": said}))
            assert driver.dispatcher.wait_until_idle(SETTLED_SECONDS)
            assert len(api.sent) > before

        yield say


def main() -> None:
    profile = Profile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    with flows() as every:
        found = {name: profile.of(flow) for name, flow in every.items()}
    sys.setprofile(None)
    print(f"{'flow':<10} {'files':>5} {'limit':>5} {'functions':>9}")
    for name, (files, functions) in found.items():
        over = "  above the limit" if len(files) > LIMITS[name] else ""
        print(f"{name:<10} {len(files):>5} {LIMITS[name]:>5} {functions:>9}{over}")
    if "--files" in sys.argv:
        for name, (files, _) in found.items():
            print(f"\n{name}")
            for file in files:
                print(f"  {file}")


if __name__ == "__main__":
    main()
