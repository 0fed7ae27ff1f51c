"""`tacit keys`: a token is printed once, and what is listed opens nothing."""

from pathlib import Path

from tacit import Scope
from tacit.bootstrap import open_memory
from tacit.settings import Settings
from tests.cli.conftest import Tacit

ALL = [part for scope in Scope for part in ("--scope", scope.value)]


def test_what_is_created_opens_the_space_as_it_was_asked_to(on_file: Tacit, tmp_path: Path) -> None:
    options = {"--for": "telegram:1001", "--agent": "planner", "--category": "goal"}
    options |= {"--days": "30", "--rate": "90"}
    asked = [part for pair in options.items() for part in pair]
    ran = on_file("keys", "create", "laptop", *ALL, *asked, "--space", "acme")
    described, token = ran.out.splitlines()
    assert described.startswith(f"{token.split('_')[1]}  read,write,erase,admin,act-as  for tele")
    assert described.endswith("  laptop")
    assert "not shown again" in ran.err
    with open_memory(tmp_path / "memory.sqlite", settings=Settings(), embedder=None) as memory:
        key = memory.keys.authenticate(token)
    assert key is not None
    assert (key.space, key.scopes, key.requester) == ("acme", frozenset(Scope), "telegram:1001")
    assert (key.agent, key.categories, key.rate_per_minute) == ("planner", ("goal",), 90)
    assert key.expires_at is not None
    assert (key.expires_at - key.created_at).days == 30


def test_a_listing_tells_how_each_stands_and_no_secret(on_file: Tacit) -> None:
    assert (
        on_file("keys", "list").err == "No API keys found. Create one with `tacit keys create`.\n"
    )
    made = on_file("keys", "create", "first", "--scope", "read", "--json").json
    on_file("keys", "create", "second", "--scope", "admin", "--days", "1")
    assert on_file("keys", "revoke", made["key"]["id"]).out == f"revoked  {made['key']['id']}\n"
    first, second = on_file("keys", "list").out.splitlines()
    assert "  revoked 20" in first
    assert "  until 20" in second
    listed = on_file("keys", "list", "--json")
    assert [key["name"] for key in listed.json["keys"]] == ["first", "second"]
    assert list(listed.json["keys"][0]) == list(made["key"])
    assert made["token"].split("_", 2)[2] not in listed.out


def test_what_makes_no_sense_is_refused(on_file: Tacit) -> None:
    for argv in (
        ["keys"],
        ["keys", "create"],
        ["keys", "create", "k"],
        ["keys", "create", "k", "--scope", "reads"],
        ["keys", "create", "k", "--scope", "read", "--for", "Alice"],
        ["keys", "create", "k", "--scope", "read", "--category", "nonsense"],
        ["keys", "list", "k"],
        ["keys", "list", "--scope", "read"],
        ["keys", "revoke"],
        ["keys", "revoke", "k", "--days", "5"],
    ):
        assert on_file(*argv).code == 2, argv
    ran = on_file("keys", "revoke", "nonsense")
    assert (ran.code, ran.err) == (1, "tacit: no such key here\n")
    assert on_file("keys", "list").out == ""


def test_a_new_key_needs_a_word_of_what_it_may_do(on_file: Tacit) -> None:
    assert "--scope read|write|erase|admin|act-as" in on_file("keys", "create", "k").err
