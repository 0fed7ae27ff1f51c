"""The group bot of the examples on Telegram, with a model: no prompt for a group has a word of what
was said in private."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bots.bot_api import TOKEN, BotApi, bot_api
from tests.bots.bot_updates import group, message, private, user
from tests.examples.asked import Asked, Called, Spoken
from tests.examples.running import EXAMPLES, environment, talking

ALICE, BOB = user(1001, "Alice"), user(2002, "Bob")
TEAM = group(-5)
JOB, PRESENT = "new job", "telescope"
PATIENCE_SECONDS = 60


def curious(asked: Asked) -> Spoken:
    """A model that looks for everything with every tool that reads, and uses the bot's own."""
    if asked.results:
        return "Here: " + " | ".join(asked.results)
    looked_for = "job, standup, birthday, present"
    return [
        Called("memory_query", {"query": looked_for, "top_k": 20}, "1"),
        Called("opening_hours", {}, "2"),
        Called("memory_list", {}, "3"),
    ]


def in_group(asked: Sequence[Asked]) -> list[Asked]:
    """Where the bot speaks for several, it has no tool that changes anything."""
    return [one for one in asked if "update_memory" not in one.tools]


@contextmanager
def answering(api: BotApi, told: dict[str, str], folder: Path) -> Iterator[None]:
    told |= {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": api.url}
    with subprocess.Popen(
        [sys.executable, "-W", "error", str(EXAMPLES / "group_bot.py")],
        cwd=folder,
        env=told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield
        process.send_signal(signal.SIGINT)
        api.wake()
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert (said, process.returncode) == ("KeyError, going on\n", 0)


def test_on_telegram_it_asks_first_and_keeps_what_is_private_out_of_the_group(tmp_path: Path) -> None:
    told, prompts = environment(tmp_path), list[Asked]()
    with bot_api() as api, talking(curious, told, prompts), answering(api, told, tmp_path):
        number = 100

        def says(where: dict[str, object], by: dict[str, object], text: str, **more: object) -> str:
            """What is said back, all of it."""
            nonlocal number
            number += 1
            before = len(api.sent)
            update = api.deliver({"message": message(where, by, text, message_id=number, **more)})
            api.wait_confirmed(update, PATIENCE_SECONDS)
            assert {one.chat for one in api.sent[before:]} <= {where["id"]}
            return "\n".join(one.text for one in api.sent[before:])

        broken = message(TEAM, None, "Nobody says this")
        api.wait_confirmed(api.deliver({"message": broken}), PATIENCE_SECONDS)
        alone = private(1001)
        assert "Should I remember this? Alice is looking for" in says(alone, ALICE, f"I am looking for a {JOB}")
        assert says(alone, ALICE, "yes") == "I will."
        says(alone, ALICE, f"Don't tell Bob, but I bought a {PRESENT} for his birthday")
        assert says(alone, ALICE, "yes") == "I will."
        assert "there is no such tool here | Daily" in says(alone, ALICE, "What do you know?")
        assert PRESENT not in says(private(2002), BOB, "What is there for my birthday?")
        assert says(TEAM, BOB, "Our standup is at 9:30").endswith("9:30 (yes or no)")
        assert says(TEAM, ALICE, "yes") == "", "it is not hers to say"
        assert says(TEAM, BOB, "Yes!") == "I will."
        assert "9:30" in says(TEAM, ALICE, "@tacit_bot when do we meet?")
        assert JOB not in says(TEAM, ALICE, "@tacit_bot what do you know of me?")
        assert says(TEAM, ALICE, "I play the oboe", forward_origin={"type": "user"}) == ""
        assert JOB in says(alone, ALICE, "/memory")
        assert JOB not in says(TEAM, ALICE, "/memory")
    assert any("standup is at 9:30" in one.text for one in in_group(prompts))
    bobs = [one for one in prompts if "Bob: What is there for my birthday?" in one.text]
    assert len(bobs) == 2
    for one in (*in_group(prompts), *bobs):
        assert JOB not in one.text
        assert PRESENT not in one.text
