"""What a client sends, and what it makes of the answers."""

import subprocess
import sys
from typing import Any

import pytest

import tacit
from tacit import errors
from tacit.memory import VIEW_OPERATIONS, View
from tacit.wire import http_problem
from tests.client.scripted_server import DONE, FarSide, Reply, problem, refuses, says


def test_every_operation_has_a_request_except_the_steps_of_graphs(view: View) -> None:
    """Those are of the process that has the memory open."""
    without = {name for name, one in VIEW_OPERATIONS.items() if one.endpoint is None}

    assert without == {name for name in VIEW_OPERATIONS if ".steps." in name}
    with pytest.raises(tacit.InvalidInput, match="where the memory is open"):
        view.checkpoints.steps.find("t")


def test_to_connect_loads_no_database_library_and_opens_nothing() -> None:
    code = "import sys, tacit; tacit.connect('http://127.0.0.1:1', 'k').close(); "
    code += "sys.exit(', '.join({'sqlalchemy', 'fastapi', 'pydantic'} & set(sys.modules)) or 0)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_extra_it_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['httpx2'] = None\nimport tacit\n"
    code += "try:\n    tacit.connect('http://127.0.0.1:1')\n"
    code += "except tacit.MissingExtra as missing:\n    sys.exit(missing.extra != 'client')"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_view_says_who_asks_and_where(far: FarSide) -> None:
    team = tacit.Chat.group(
        "telegram:-5", [tacit.Requester("telegram:2", name="Bö, b;", username="bob"), "slack:T1:U2"], complete=True
    )
    who = tacit.Requester("telegram:1", name="Zoë")
    with tacit.connect(f"{far.url}/", "tct_k_s") as client:
        client.view(who, team, thread="tø/1", agent="planner").stats()
    sent = {name: value for name, value in far.asked[0].headers.items() if "tacit" in name}

    assert far.asked[0].path == "/api/stats"
    assert far.asked[0].headers["authorization"] == "Bearer tct_k_s"
    assert sent == {
        "x-tacit-requester": "telegram:1",
        "x-tacit-name": "Zo%C3%AB",
        "x-tacit-chat": "telegram:-5",
        "x-tacit-chat-kind": "group",
        "x-tacit-participants": "telegram:2;B%C3%B6%2C%20b%3B;bob,slack:T1:U2",
        "x-tacit-complete": "true",
        "x-tacit-thread": "t%C3%B8%2F1",
        "x-tacit-agent": "planner",
    }


def test_bots_are_nobody_and_among_others_nobody_knows_who_listens(far: FarSide) -> None:
    bot = tacit.Requester("telegram:9", is_bot=True)
    room = tacit.Chat.group("telegram:-5", ["telegram:1", bot], complete=True)
    with tacit.connect(far.url) as client:
        assert not client.view(bot, room).enabled
        client.view("telegram:1", room).stats()

    assert far.asked[0].headers["x-tacit-participants"] == "telegram:1"
    assert "x-tacit-complete" not in far.asked[0].headers


@pytest.mark.parametrize(
    ("who", "chat", "field"),
    [
        (5, None, "requester"),
        ("telegram:1\r\nx: y", None, "requester"),
        (tacit.Requester(5), None, "requester"),  # type: ignore[arg-type]
        (None, 5, "chat"),
        (None, tacit.Chat("telegram:-5", "club"), "chat"),  # type: ignore[arg-type]
        (None, tacit.Chat("telegram:-5", tacit.ChatKind.GROUP, ("\ud800",)), "participants"),
    ],
)
def test_who_cannot_be_said_is_refused_before_anything_is_sent(far: FarSide, who: Any, chat: Any, field: str) -> None:
    with tacit.connect(far.url) as client, pytest.raises(tacit.InvalidInput) as refused:
        client.view(who, chat)

    assert refused.value.field == field
    assert far.asked == []


@pytest.mark.parametrize(
    "url", ["", "tacit.db", "ftp://host", "http://", "http://u:p@host", "http://host/?a=b", "http://h:x"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(tacit.InvalidInput) as refused:
        tacit.connect(url)

    assert refused.value.field == "url"


@pytest.mark.parametrize("key", ["", "a b", "ä", "a\r\nb", 5])
def test_a_key_that_is_none_is_refused_and_not_repeated(key: Any) -> None:
    with pytest.raises(tacit.InvalidInput) as refused:
        tacit.connect("http://127.0.0.1:1", key)

    assert refused.value.field == "key"
    assert "r\n" not in str(refused.value)


def test_a_name_that_looks_like_a_path_stays_one_part_of_it(far: FarSide, view: View) -> None:
    far.always = says(DONE)
    for key in ("a/b", "..", "ü?x=1#y", "%2e"):
        view.put("fact", key, "x")

    assert [one.path for one in far.asked] == [
        "/api/items/fact/a%2Fb",
        "/api/items/fact/%2E%2E",
        "/api/items/fact/%C3%BC%3Fx%3D1%23y",
        "/api/items/fact/%252e",
    ]


def test_an_export_is_read_line_by_line(far: FarSide, view: View) -> None:
    lines = ['{"a": "\u2028 \x0b"}', "{}", '{"b": "ü"}']
    far.always = Reply("".join(f"{line}\n" for line in lines).encode())
    exported = view.export(everything=True)

    assert far.asked == []
    assert next(exported) == lines[0]
    assert list(exported) == lines[1:]
    assert far.asked[0].path == "/api/export?format=jsonl&everything=true&turns=false"


def test_an_import_is_sent_as_it_is_read(far: FarSide, view: View) -> None:
    far.always = says({"created": 2, "skipped": 0, "refused": []})
    done = view.imports.add_lines(line for line in ['{"content": "ü"}\n', "", "{}"])

    assert done.created == 2
    assert far.asked[0].body == '{"content": "ü"}\n\n{}\n'.encode()
    assert far.asked[0].headers["content-type"] == "application/x-ndjson"


def test_a_long_import_goes_in_parts_and_is_told_as_one(far: FarSide, view: View) -> None:
    far.always = says({"created": 90, "skipped": 1, "refused": ["line 3: content: is missing"]})
    versions = '{"content": "b", "versions": [' + ", ".join(['{"content": "b"}'] * 60) + "]}"
    lines = ['{"content": "a"}'] * 150 + [versions, versions]
    done = view.imports.add_lines(lines)

    sent = [one.body.decode().splitlines() for one in far.asked]
    assert [len(one) for one in sent] == [100, 50, 1, 1]
    assert [line for one in sent for line in one] == lines
    assert (done.created, done.skipped) == (360, 4)
    numbers = [1 + 2, 100 + 3, 150 + 3, 151 + 3]
    assert done.refused == tuple(f"line {n}: content: is missing" for n in numbers)


def test_nothing_tells_the_key(far: FarSide) -> None:
    with tacit.connect(far.url, "tct_k_secret") as client:
        view = client.view("telegram:1")

        assert "secret" not in f"{client!r} {view!r}"
        assert "telegram:1" not in repr(view)


def test_every_page_of_a_list_is_fetched(far: FarSide, view: View) -> None:
    people = [{"id": f"p{n}", "names": [], "identities": []} for n in range(3)]
    far.script = [says({"items": people[:2], "cursor": "c"}), says({"items": people[2:]})]

    assert [one.id for one in view.people.list()] == ["p0", "p1", "p2"]
    assert far.asked[1].path.endswith("&cursor=c")


def test_what_is_absent_is_absent_and_no_error_of_the_way(far: FarSide, view: View) -> None:
    far.script = [refuses(errors.NotFound()), refuses(errors.NotFound("checkpoint"))]

    assert view.get("fact", "city") is None
    assert view.checkpoints.get() is None
    far.always = problem(http_problem("no-such-route", "r1"))
    with pytest.raises(tacit.StoreError):
        view.get("fact", "city")


@pytest.mark.parametrize("value", [object(), float("nan"), b"x", {1: 2}, iter("ab")])
def test_what_cannot_be_sent_is_refused_by_its_name(far: FarSide, view: View, value: Any) -> None:
    with pytest.raises(tacit.InvalidInput) as refused:
        view.remember("x y z", about=value)

    assert refused.value.field == "about"
    assert far.asked == []
