"""What Alice asks of all other routes, beside those of memories themselves."""

from tests.server.cases_memory import ONCE, QUERIES
from tests.server.two_worlds import Ask
from tests.server.worlds import ABSENT

SAID = [{"role": "user", "content": "Remember that I moved to Faro with Ines"}]

READS: dict[str, tuple[Ask, ...]] = {
    "GET /health/live": (Ask("/health/live"),),
    "GET /health/ready": (Ask("/health/ready"),),
    "GET /api/view": (Ask("/api/view"),),
    "POST /api/recall": (
        *(Ask("/api/recall", {"query": query}) for query in QUERIES),
        Ask("/api/recall", {"query": "sail", "include": ["turns"]}),
        Ask("/api/recall", {"query": "Bob", "user": "telegram:2002"}),
        Ask("/api/recall", {"query": "Bob", "actor": "zqnickz"}),
    ),
    "POST /api/query": (
        *(Ask("/api/query", {"query": query}) for query in QUERIES),
        Ask("/api/query", {"query": "Bob", "categories": ["goal"]}),
        Ask("/api/query", {"query": "Bob", "filters": {"user_id": "telegram:2002"}}),
        Ask("/api/query", {"query": "Bob", "agent": "supervisor"}),
    ),
    "GET /api/block": (
        Ask("/api/block"),
        *(Ask("/api/block", query={"style": one}) for one in ("memory", "filtered", "summary")),
        Ask("/api/block", headers={"X-Tacit-Thread": "zqthreadz"}),
    ),
    "POST /api/fresh": (
        *(Ask("/api/fresh", {"query": query, "since": 0}) for query in QUERIES),
        Ask("/api/fresh", {"query": "Bob", "since": 0}, headers={"X-Tacit-Thread": "zqthreadz"}),
    ),
    "GET /api/delta": (
        Ask("/api/delta", query={"since": "0"}),
        Ask("/api/delta", headers={"X-Tacit-Thread": "zqthreadz"}),
        Ask("/api/delta", headers={"X-Tacit-Thread": "telegram%3A2002"}),
    ),
    "GET /api/threads/{thread}/delta": (
        Ask("/api/threads/telegram:1001/delta", query={"since": "0"}),
        Ask("/api/threads/telegram:-100/delta"),
        Ask("/api/threads/telegram:2002/delta"),
        Ask("/api/threads/{theirs_thread}/delta"),
        Ask("/api/threads/nobodys/delta"),
    ),
    "POST /api/sessions/begin": (
        Ask("/api/sessions/begin", {}),
        Ask("/api/sessions/begin", {"session": "zqsessionz"}),
    ),
    "GET /api/people": (Ask("/api/people"), Ask("/api/people", query={"limit": "1"})),
    "GET /api/about": tuple(
        Ask("/api/about", query={"person": person})
        for person in (
            "Bob",
            "telegram:2002",
            "me",
            "Ines",
            "zqnamez",
            "zqnickz",
            "acct:zqaccountz",
        )
    ),
    "POST /api/browse": tuple(
        Ask("/api/browse", {"search": search, **more})
        for search, more in (
            ({}, {}),
            ({"words": "zq"}, {}),
            ({"words": "b", "state": "any"}, {"limit": 1}),
            ({"about": "Bob"}, {}),
            ({"about": "zqnamez"}, {}),
            ({"about": "acct:zqaccountz"}, {}),
            ({"chat": "{theirs_room}", "state": "any"}, {}),
            ({"owner": "telegram:2002"}, {}),
        )
    ),
    "POST /api/browse/count": tuple(
        Ask("/api/browse/count", {"search": search})
        for search in ({}, {"words": "zq", "state": "any"}, {"state": "any"}, {"about": "Ines"})
    ),
    "GET /api/looks": (Ask("/api/looks"), Ask("/api/looks", query={"limit": "1"})),
    "GET /api/graph": (Ask("/api/graph"), Ask("/api/graph", query={"limit": "3"})),
    "GET /api/activity": (
        Ask("/api/activity"),
        Ask("/api/activity", query={"limit": "1"}),
        Ask("/api/activity", query={"since": "2026-03-01T00:00:00Z"}),
    ),
    "GET /api/activity/days": (Ask("/api/activity/days", query={"days": "366"}),),
    "GET /api/proposals": (Ask("/api/proposals"), Ask("/api/proposals", query={"limit": "1"})),
    "GET /api/checkpoints": (
        Ask("/api/checkpoints"),
        Ask("/api/checkpoints", headers={"X-Tacit-Thread": "zqthreadz"}),
    ),
    "GET /api/checkpoints/{thread}": tuple(
        Ask(f"/api/checkpoints/{thread}") for thread in ("plan", "{theirs_thread}", "nobodys")
    ),
    "GET /api/imports": (Ask("/api/imports"), Ask("/api/imports", query={"limit": "1"})),
    "POST /api/imports/preview": tuple(
        Ask("/api/imports/preview", {"items": items, "source": "mem0"})
        for items in (
            [{"content": "Alice keeps bees"}],
            [{"content": "Alice skates", "source": "zqforeignz"}],
            [{"content": "Bob brews zqmeadz"}, {"content": "Bob hides zqcontentz in the cellar"}],
            [{"content": "Bob likes zqvaluez", "category": "preference", "key": "zqkeyz"}],
            [{"content": "met her", "about": ["Ines"]}, {"content": "x", "about": ["zqnamez"]}],
        )
    ),
    "GET /api/link/waiting": (Ask("/api/link/waiting"),),
    "GET /api/link/identities": (Ask("/api/link/identities"),),
    "GET /api/files": (
        Ask("/api/files"),
        Ask("/api/files", query={"folder": "{theirs_folder}"}),
    ),
    "GET /api/files/{path}": tuple(
        Ask(f"/api/files/{path}")
        for path in ("trips.md", "_index.md", "{theirs_file}", "{theirs_note}", "nobodys.md")
    ),
    "GET /api/stats": (Ask("/api/stats"),),
}

WRITES: dict[str, tuple[Ask, ...]] = {
    "POST /api/learn": (
        Ask("/api/learn", {"messages": SAID}),
        Ask("/api/learn", {"messages": SAID}, headers=ONCE),
    ),
    "POST /api/record": (
        Ask("/api/record", {"messages": SAID}),
        Ask("/api/record", {"messages": SAID, "session": "zqsessionz"}),
    ),
    "POST /api/unlearn": tuple(
        Ask("/api/unlearn", {"message": message}) for message in ("m1", "zqmessagez", "zqmessagez ")
    ),
    "POST /api/people/name": tuple(
        Ask("/api/people/name", {"person": person, "name": "Nini"})
        for person in ("Ines", "telegram:2002", "zqnamez")
    ),
    "POST /api/people/merge": tuple(
        Ask("/api/people/merge", {"person": person, "into": into})
        for person, into in (
            ("person:AAAAAAAA", "person:BBBBBBBB"),
            ("{theirs_person}", "person:AAAAAAAA"),
            ("zqnamez", "person:AAAAAAAA"),
        )
    ),
    "POST /api/people/unmerge": tuple(
        Ask("/api/people/unmerge", {"person": person})
        for person in ("person:AAAAAAAA", "{theirs_person}")
    ),
    "POST /api/proposals": tuple(
        Ask("/api/proposals", {"category": category, "key": key})
        for category, key in (("profile", "timezone"), ("preference", "{theirs_item}"))
    ),
    "POST /api/proposals/{id}/approve": tuple(
        Ask(f"/api/proposals/{id}/approve") for id in ("{theirs_proposal}", "{theirs}", ABSENT)
    ),
    "POST /api/proposals/{id}/decline": tuple(
        Ask(f"/api/proposals/{id}/decline") for id in ("{theirs_proposal}", "{proposal}", ABSENT)
    ),
    "POST /api/relations": tuple(
        Ask("/api/relations", {"id": id, "other": other})
        for id, other in (
            ("{own}", "{keyed}"),
            ("{own}", "{theirs}"),
            ("{theirs}", "{own}"),
            ("{theirs}", "{theirs_too}"),
            ("{own}", ABSENT),
        )
    ),
    "POST /api/trace": (
        Ask("/api/trace", {"text": "Remember that Ines works on the platform"}),
        Ask("/api/trace", {"text": "Remember that Bob hides zqcontentz in the cellar"}),
    ),
    "POST /api/sessions/end": (
        Ask("/api/sessions/end", {"draft": {"summary": "Spoke.", "facts": ["The build is green"]}}),
        Ask("/api/sessions/end", {"messages": SAID, "session": "zqsessionz"}),
    ),
    "POST /api/link/offer": (Ask("/api/link/offer"),),
    "POST /api/link/accept": tuple(
        Ask("/api/link/accept", {"code": code}) for code in ("{theirs_code}", "ABCDE-23456", "x")
    ),
    "POST /api/link/confirm": (Ask("/api/link/confirm"),),
    "POST /api/link/refuse": (Ask("/api/link/refuse"),),
    "POST /api/link/unlink": (Ask("/api/link/unlink"),),
    "POST /api/imports": tuple(
        Ask("/api/imports", {"run": run, "items": items, "source": "mem0", "after": 0})
        for run in ("moving", "zqrunz", "fresh")
        for items in (
            [{"content": "Alice skates", "source": "zqforeignz"}],
            [{"content": "Bob brews zqmeadz"}],
            [{"content": "She rows", "about": ["Ines"], "key": "zqkeyz"}],
        )
    ),
    "POST /api/imports/revert": tuple(
        Ask("/api/imports/revert", {"run": run}) for run in ("moving", "zqrunz", "nobodys")
    ),
    "PUT /api/checkpoints": (
        Ask("/api/checkpoints", {"data": {"step": 2}}, headers={"X-Tacit-Thread": "zqthreadz"}),
    ),
    "PUT /api/checkpoints/{thread}": tuple(
        Ask(f"/api/checkpoints/{thread}", {"data": {"step": 2}, **more})
        for thread in ("plan", "{theirs_thread}", "fresh")
        for more in ({}, {"version": 1}, {"version": 7})
    ),
    "DELETE /api/checkpoints": (Ask("/api/checkpoints", headers={"X-Tacit-Thread": "zqthreadz"}),),
    "DELETE /api/checkpoints/{thread}": tuple(
        Ask(f"/api/checkpoints/{thread}") for thread in ("{theirs_thread}", "nobodys")
    ),
    "PUT /api/files/{path}": (
        Ask("/api/files/trips.md", {"text": "# Trips\n\n- Faro in June\n"}),
        Ask("/api/files/{theirs_file}", {"text": "- Alice rows\n", "new": True}),
        Ask("/api/files/other.md", {"text": "- Alice runs\n", "instead_of": "- Bob\n"}),
    ),
    "POST /api/rename-file": (
        Ask("/api/rename-file", {"old": "{theirs_note}", "new": "mine.md"}),
        Ask("/api/rename-file", {"old": "nobodys.md", "new": "mine.md"}),
        Ask("/api/rename-file", {"old": "trips.md", "new": "journeys.md"}),
    ),
    "DELETE /api/files/{path}": tuple(
        Ask(f"/api/files/{path}") for path in ("{theirs_note}", "{theirs_file}", "nobodys.md")
    ),
}

# Not Alice's to ask: her key has neither scope, whatever there is.
OPERATORS: dict[str, tuple[Ask, ...]] = {
    **{
        f"POST /api/chats/{{chat}}/{act}": tuple(
            Ask(f"/api/chats/{chat}/{act}", body) for chat in ("{theirs_room}", "telegram:-9")
        )
        for act, body in (
            ("joined", {"person": "telegram:1001"}),
            ("left", {"person": "telegram:2002"}),
            ("confidential", {"on": False}),
            ("migrated", {"new": "telegram:-301"}),
        )
    },
    "GET /api/links": (
        Ask("/api/links", query={"identity": "telegram:2002"}),
        Ask("/api/links", query={"identity": "acct:zqaccountz"}),
    ),
    "POST /api/links": (Ask("/api/links", {"external_key": "slack:T1:U7", "account": "acct:x"}),),
    "POST /api/verify-link": (Ask("/api/verify-link", {"external_key": "telegram:2002"}),),
    "DELETE /api/links/{external_key}": tuple(
        Ask(f"/api/links/{key}") for key in ("{theirs_link}", "slack:T9:U9")
    ),
    "GET /api/events": (Ask("/api/events"),),
    "GET /api/jobs": (Ask("/api/jobs"),),
    "POST /api/jobs/{task}/run": (Ask("/api/jobs/expire/run"), Ask("/api/jobs/{theirs_key}/run")),
    "GET /api/spaces/stats": (Ask("/api/spaces/stats"),),
    "GET /metrics": (Ask("/metrics"),),
}
