"""A person's own memories, looked through over HTTP; and which operators looked at them."""

from tacit import Search
from tests.server.calls import ALICE, BOB, TEAM, World


def test_a_person_looks_through_their_own(world: World) -> None:
    asked = world.caller()
    asked.did("/api/remember", content="I drink green tea", category="preference")
    asked.did("/api/remember", content="I live in Rome", about=["Tom"])
    world.caller(BOB).did("/api/remember", content="Bob drinks green tea")
    page = asked.did("/api/browse", limit=1)
    rest = asked.did("/api/browse", limit=1, cursor=page["cursor"])
    contents = {one["content"] for one in (*page["items"], *rest["items"])}
    assert contents == {"I drink green tea", "I live in Rome"}
    assert rest["cursor"] is None
    found = asked.did("/api/browse", search={"words": "GRE dri", "category": "preference"})
    assert [one["content"] for one in found["items"]] == ["I drink green tea"]
    assert asked.did("/api/browse/count", search={"words": "li", "about": "Tom"}) == {"count": 1}
    assert asked.did("/api/browse/count", search={"until": "2020-01-01T00:00:00Z"}) == {"count": 0}
    assert world.caller(ALICE, TEAM).did("/api/browse")["items"] == []


def test_a_person_is_told_of_looks_at_what_is_theirs(world: World) -> None:
    asked = world.caller()
    id = asked.did("/api/remember", content="I live in Rome")["id"]
    world.memory.operator("root").browse(Search(words="rome"))
    (look,) = asked.told("/api/looks")["items"]
    assert (look["actor"], look["word"], look["count"]) == ("operator:root", "browse", 1)
    assert look["memory_id"] == id
    assert world.caller(BOB).told("/api/looks")["items"] == []
    assert world.caller(ALICE, TEAM).told("/api/looks")["items"] == []
