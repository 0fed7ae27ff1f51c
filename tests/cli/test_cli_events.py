"""`tacit history --export`, `tacit events` and `tacit metrics`, as people and scrapers use them."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001")
BOB = ("--as", "telegram:2002")


def test_the_history_of_everything_is_json_lines(on_file: Tacit) -> None:
    id = on_file("remember", "one", *ALICE, "--json").json["id"]
    on_file("update", id, "two", *ALICE)
    on_file("remember", "Bob's", *BOB)
    for form in ((), ("--json",)):
        ran = on_file("history", "--export", *ALICE, *form)
        lines = [json.loads(line) for line in ran.out.splitlines()]
        assert [(line["memory_id"], line["event"], line["content"]) for line in lines] == [
            (id, "ADD", "one"),
            (id, "UPDATE", "two"),
        ]


def test_history_needs_a_memory_or_export_and_not_both(on_file: Tacit) -> None:
    assert on_file("history", *ALICE).code == 2
    assert on_file("history", "AAAAAAAA", "--export", *ALICE).code == 2
    assert on_file("history", "--export").code == 3  # nobody asks


def test_events_of_all_commands_add_up_and_need_nobody(on_file: Tacit) -> None:
    for text in ("one", "two", "three"):
        on_file("remember", text, *ALICE)
    on_file("recall", "one", *ALICE)
    found = on_file("events", "--json").json["events"]
    assert {(one["node"], one["op"], one["count"]) for one in found} == {
        ("hotpath", "create", 3),
        ("context", "search", 1),
    }
    assert on_file("events", "--node", "context", "--json").json["events"][0]["op"] == "search"
    page = on_file("events", "--limit", "1")
    assert "--cursor" in page.err
    assert on_file("events", "--since", "2999-01-01T00:00:00+00:00").out == ""
    assert on_file("events", "--since", "tomorrow").code == 2
    assert on_file("events", "--node", "nowhere").code == 2


def test_metrics_are_printed_without_anybody_and_without_a_setting(on_file: Tacit) -> None:
    on_file("remember", "Sarah is my wife", *ALICE)
    ran = on_file("metrics", "--print")
    assert 'tacit_memories{state="active"} 1.0' in ran.out.splitlines()
    assert "Sarah" not in ran.out


def test_metrics_are_served_on_this_machine_until_interrupted(home: Path) -> None:
    db = str(home / "memory.sqlite")
    argv = [sys.executable, "-m", "tacit.cli", "metrics", "--port", "0", "--db", db]
    served = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert served.stderr is not None
        address = served.stderr.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            told = answer.read().decode()
        assert 'tacit_queue_depth{of="turns",state="waiting"} 0.0' in told.splitlines()
        served.send_signal(signal.SIGINT)
        assert served.wait(60) == 130
    finally:
        served.kill()
        served.communicate()


def test_a_port_that_is_none_is_refused(on_file: Tacit) -> None:
    assert on_file("metrics", "--port", "70000").code == 2
