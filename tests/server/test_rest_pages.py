"""Every list comes in pages, and the pages are the list, whatever is written meanwhile."""

from typing import Any

from tacit import Search
from tests.server.calls import ALICE, BOB, TEAM, Caller, World, good

ASKED: dict[str, dict[str, str]] = {"/api/about": {"person": "Sarah"}, "/api/links": {"identity": "acct:many"}}


def fill(world: World) -> None:
    """At least two of everything that is listed."""
    alice = world.caller()
    for number in range(3):
        name = f"P{number}"
        good(alice.put(f"/api/items/preference/{name}", value=f"likes {number}", about=["Sarah"]))
        alice.did("/api/proposals", category="preference", key=name)
        alice.did("/api/people/name", person=f"telegram:500{number}", name=name)
        alice.did("/api/links", external_key=f"telegram:9{number}", account="acct:many")
        item = {"content": f"imported {number}"}
        alice.did("/api/imports", run=name, items=[item], source="mem0")
        good(alice.put(f"/api/files/{name}.md", text=f"- about {name}\n"))
        world.memory.operator("root").browse(Search(words="likes"))
        world.clock.forward(seconds=1)
    team = world.caller(chat=TEAM, Participants=f"{ALICE},{BOB}")
    team.did("/api/remember", content="we meet on Mondays")
    alice.did("/api/query", query="likes")


def lists(world: World) -> list[str]:
    document = good(world.client.get("/openapi.json"))
    return [
        path.replace("{category}", "preference")
        for path, methods in document["paths"].items()
        for one in methods.get("get", {}).get("parameters", ())
        if one.get("name") == "cursor"
    ]


def page(asked: Caller, path: str, **query: Any) -> tuple[list[Any], str | None]:
    told = asked.told(path, **ASKED.get(path, {}), **query)
    if path == "/api/memory/":
        return told["memories"], told["next_cursor"]
    return told["items"], told["cursor"]


def test_the_pages_of_every_list_are_the_whole_of_it(world: World) -> None:
    fill(world)
    asked = world.caller()
    paths = lists(world)
    assert len(paths) == 14
    for path in paths:
        whole, nothing = page(asked, path)
        assert len(whole) > 1, path
        assert nothing is None, path
        found, cursor = page(asked, path, limit=1)
        assert len(found) == 1, path
        while cursor is not None:
            more, cursor = page(asked, path, limit=1, cursor=cursor)
            found += more
        assert found == whole, path


def test_a_page_goes_on_where_it_stopped_whatever_came_or_went_before(world: World) -> None:
    asked = world.caller()
    for number in range(4):
        asked.did("/api/people/name", person=f"telegram:500{number}", name=f"P{number}")
    first, cursor = page(asked, "/api/people", limit=2)
    asked.did("/api/people/name", person="telegram:1", name="Early")
    rest, _ = page(asked, "/api/people", cursor=cursor)
    told = [one["id"] for one in first + rest]
    assert len(told) == len(set(told))
    everybody = {one["id"] for one in asked.told("/api/people")["items"]}
    assert everybody - set(told) == {"ext:telegram:1"}
