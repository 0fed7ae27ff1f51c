"""What Alice asks of each route about memories. `{theirs}` is Bob's: she may not even know of it.

Reads stand before writes, and what removes for good stands last: the order is that of asking.
"""

from tests.server.two_worlds import Ask
from tests.server.worlds import ABSENT

FORCE = {"force": "true"}
ONCE = {"Idempotency-Key": "a-token-of-both"}  # Bob used the same one
# Alike to something of Bob's, and to nothing of Alice's.
LIKE_BOBS = {"content": "Ines works on the platform", "category": "person", "subject": "Ines"}
LIKE_OWN = {"content": "Alice lives in Porto now", "category": "context"}
QUERIES = ("Alice", "Bob", "Ines", "cellar", "zqcontentz", "zqcakez", "zqplacez")

READS: dict[str, tuple[Ask, ...]] = {
    "GET /api/memory/": (
        Ask("/api/memory/"),
        Ask("/api/memory/", query={"limit": "1"}),
        Ask("/api/memory/", query={"category": "goal"}),
        Ask("/api/memory/", query={"category": "preference", "prefix": "zqk"}),
        Ask("/api/memory/", query={"cursor": "nonsense"}),
    ),
    "GET /api/memory/{id}": tuple(
        Ask(f"/api/memory/{id}", headers=headers)
        for id in ("{own}", "{heard}", "{theirs}", "{theirs_gone}", "{theirs_key}", ABSENT, "x")
        for headers in ({}, {"If-None-Match": '"v1"'}, {"If-None-Match": "*"})
    ),
    "GET /api/memory/{id}/history": tuple(
        Ask(f"/api/memory/{id}/history") for id in ("{own}", "{heard}", "{theirs}", ABSENT)
    ),
    "GET /api/memory/{id}/record": tuple(
        Ask(f"/api/memory/{id}/record") for id in ("{own}", "{heard}", "{theirs}", ABSENT)
    ),
    "GET /api/memory/{id}/explain": tuple(
        Ask(f"/api/memory/{id}/explain") for id in ("{own}", "{heard}", "{theirs}", ABSENT)
    ),
    "GET /api/memory/{id}/hearers": tuple(
        Ask(f"/api/memory/{id}/hearers", query=query)
        for id in ("{own}", "{heard}", "{theirs}", ABSENT)
        for query in ({}, {"visibility": "public_ok"}, {"visibility": "zqwidez"})
    ),
    "POST /api/hearing": tuple(
        Ask("/api/hearing", {"chat": chat, **more})
        for chat in (
            {"id": "telegram:1001", "kind": "private"},
            {"id": "telegram:-100", "kind": "group"},
            {"id": "{theirs_room}", "kind": "group", "participants": ["telegram:2002"]},
            {"id": "telegram:2002", "kind": "private"},
        )
        for more in (
            {},
            {"limit": 1, "search": {"words": "li", "state": "any"}},
            {"asked_by": {"key": "telegram:2002"}, "search": {"about": "zqnickz"}},
        )
    ),
    "GET /api/rooms": (Ask("/api/rooms"), Ask("/api/rooms", query={"limit": "1"})),
    "POST /api/memory/{id}/explain": tuple(
        Ask(f"/api/memory/{id}/explain", body)
        for id in ("{own}", "{heard}", "{theirs}", ABSENT)
        for body in (
            {},
            {"chat": {"id": "telegram:-100", "kind": "group"}},
            {
                "chat": {"id": "{theirs_room}", "kind": "group", "participants": ["telegram:2002"]},
                "asked_by": {"key": "telegram:2002"},
            },
        )
    ),
    "GET /api/items": (
        Ask("/api/items"),
        Ask("/api/items", query={"category": "goal"}),
        Ask("/api/items", query={"prefix": "zq", "category": "preference"}),
        *(
            Ask("/api/items", query={"state": state})
            for state in ("forgotten", "pending", "superseded", "quarantined")
        ),
    ),
    "GET /api/count": (
        Ask("/api/count"),
        *(Ask("/api/count", query={"category": one}) for one in ("goal", "person", "profile")),
        Ask("/api/count", query={"state": "forgotten"}),
    ),
    "GET /api/items/{category}": (
        Ask("/api/items/profile"),
        Ask("/api/items/goal", query={"prefix": "{theirs_item}"}),
        Ask("/api/items/preference", query={"limit": "1"}),
    ),
    "GET /api/items/{category}/{key}": (
        Ask("/api/items/profile/timezone"),
        Ask("/api/items/preference/{theirs_item}"),
        Ask("/api/items/preference/nothing"),
        Ask("/api/items/goal/zqgoalz"),
    ),
    "POST /api/suggest": (
        Ask("/api/suggest", {"content": "Ines works on the platform", "about": ["Ines"]}),
        Ask("/api/suggest", {"content": "Bob hides zqcontentz in the cellar"}),
        Ask("/api/suggest", {"content": "Alice lives in Porto", "category": "profile"}),
    ),
    "GET /api/export": (
        Ask("/api/export"),
        Ask("/api/export", query={"format": "markdown"}),
        Ask("/api/export", query={"everything": "true", "turns": "true"}),
    ),
    "GET /api/export/history": (Ask("/api/export/history"),),
}

WRITES: dict[str, tuple[Ask, ...]] = {
    "POST /api/memory/": (
        Ask("/api/memory/", LIKE_BOBS),
        Ask("/api/memory/", LIKE_OWN, headers=ONCE),
        Ask("/api/memory/", {**LIKE_OWN, "content": "Alice lives in Faro"}, FORCE),
        Ask(
            "/api/memory/", {"content": "Bob hides zqcontentz in the cellar", "category": "context"}
        ),
    ),
    "POST /api/remember": (
        Ask("/api/remember", {"content": "Bob feeds zqfoxz at dawn", "category": "goal"}),
        Ask("/api/remember", {"content": "Alice knits", "about": ["Ines", "zqnamez"]}),
        Ask("/api/remember", {"content": "Alice sews", "withheld_from": ["telegram:2002"]}),
        Ask("/api/remember", {"content": "Alice paints", "turns": ["{theirs}"]}),
    ),
    "PUT /api/memory/{id}": tuple(
        Ask(f"/api/memory/{id}", {"content": "Alice lives in Braga"}, headers=headers)
        for id in ("{own}", "{theirs}", "{theirs_gone}", ABSENT)
        for headers in ({}, {"If-Match": '"v1"'}, {"If-Match": "*"}, ONCE)
    ),
    "PATCH /api/memory/{id}": tuple(
        Ask(f"/api/memory/{id}", body)
        for id in ("{own}", "{theirs}", "{heard}", ABSENT)
        for body in (
            {"pinned": True},
            {"visibility": "private_only"},
            {"withhold_from": ["zqnickz"]},
            {"content": "Alice lives in Sines"},
        )
    ),
    "POST /api/memory/{id}/update": tuple(
        Ask(f"/api/memory/{id}/update", {"content": "Alice lives in Tomar", **more})
        for id in ("{own}", "{theirs}", "{heard}", ABSENT)
        for more in ({}, {"if_version": 1})
    ),
    "PUT /api/memory/{id}/pinned": tuple(
        Ask(f"/api/memory/{id}/pinned", {"on": True}) for id in ("{own}", "{theirs}", ABSENT)
    ),
    "PUT /api/memory/{id}/visibility": tuple(
        Ask(f"/api/memory/{id}/visibility", {"visibility": "private_only"})
        for id in ("{own}", "{theirs}", ABSENT)
    ),
    "POST /api/memory/{id}/withhold": tuple(
        Ask(f"/api/memory/{id}/withhold", {"who": ["Ines"]}) for id in ("{own}", "{theirs}", ABSENT)
    ),
    "PUT /api/items/{category}/{key}": (
        Ask("/api/items/profile/timezone", {"value": "Europe/Madrid"}),
        Ask("/api/items/preference/{theirs_item}", {"value": "Alice likes tea"}),
        Ask("/api/items/goal/zqgoalz", {"value": "Alice stays"}),
        Ask("/api/items/goal/other", {"value": "Alice rows"}, headers=ONCE),
    ),
    "POST /api/import": (
        Ask("/api/import", "{}\nnonsense\n", headers={"Content-Type": "application/x-ndjson"}),
        Ask("/api/import", "", headers={"Content-Type": "application/x-ndjson"}),
    ),
    "DELETE /api/items/{category}/{key}": (
        Ask("/api/items/profile/timezone"),
        Ask("/api/items/preference/{theirs_item}"),
        Ask("/api/items/preference/{theirs_item}"),
    ),
    "DELETE /api/items/{category}": (
        Ask("/api/items/goal", query={}),
        Ask("/api/items/relationship"),
    ),
    "DELETE /api/memory/{id}": tuple(
        Ask(f"/api/memory/{id}")
        for id in ("{other}", "{theirs}", "{theirs_gone}", "{heard}", ABSENT, "x")
    ),
    "POST /api/memory/{id}/restore": tuple(
        Ask(f"/api/memory/{id}/restore")
        for id in ("{other}", "{gone}", "{theirs}", "{theirs_gone}", ABSENT)
    ),
}

REMOVALS: dict[str, tuple[Ask, ...]] = {
    "POST /api/memory/{id}/erase": tuple(
        Ask(f"/api/memory/{id}/erase", query=query)
        for id in ("{other}", "{theirs}", "{theirs_gone}", ABSENT)
        for query in ({}, {"turns": "true"})
    ),
    "POST /api/wipe": (Ask("/api/wipe"), Ask("/api/wipe")),
}
