"""Two identities become one over HTTP, and no key reaches further by it than it did."""

from tacit import limits
from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, World, alike, good, refused

LAPTOP = "slack:T1:UA"
WRONG = "ABCDE-23456"


def test_a_code_is_offered_accepted_and_confirmed(world: World) -> None:
    phone, laptop = world.caller(), world.caller(LAPTOP)
    phone.did("/api/memory/", content="I sail", category="context")
    refused(phone.get("/api/link/waiting"), 404)
    offer = phone.did("/api/link/offer")
    assert set(offer) == {"code", "expires_at"}
    waiting = laptop.did("/api/link/accept", code=offer["code"])
    assert waiting["identity"] == ALICE
    assert phone.told("/api/link/waiting") == {**waiting, "identity": LAPTOP}
    assert laptop.told("/api/memory/")["memories"] == []
    link = phone.with_headers(Idempotency_Key="yes").did("/api/link/confirm")
    assert phone.with_headers(Idempotency_Key="yes").did("/api/link/confirm") == link
    refused(phone.post("/api/link/confirm"), 404)
    assert [one["content"] for one in laptop.told("/api/memory/")["memories"]] == ["I sail"]
    assert laptop.told("/api/link/identities") == sorted([link["target"], LAPTOP, ALICE])
    refused(laptop.post("/api/link/accept", code=offer["code"]), 409)
    assert laptop.did("/api/link/unlink")["ended_at"]
    assert laptop.told("/api/memory/")["memories"] == []
    refused(laptop.post("/api/link/unlink"), 404)


def test_a_code_that_was_there_reads_like_one_that_never_was(world: World) -> None:
    used = world.caller(BOB).did("/api/link/offer")["code"]
    assert good(world.caller(BOB).post("/api/link/refuse")) is None
    for sent in ({"code": used.lower()}, {"code": "x"}, {"code": ""}):
        answer = world.caller().post("/api/link/accept", **sent)
        refused(answer, 404)
        alike(answer, world.caller().post("/api/link/accept", code=WRONG))
        world.clock.forward(seconds=3600 * limits.LINK_TRIES_HOURS)


def test_whoever_guesses_is_told_when_to_go_on(world: World) -> None:
    for _ in range(limits.LINK_TRIES_MAX_COUNT):
        refused(world.caller().post("/api/link/accept", code=WRONG), 404)
    answer = world.caller().post("/api/link/accept", code=WRONG)
    assert refused(answer, 429)["retry_after_seconds"] == 3600
    assert answer.headers["retry-after"] == "3600"


def test_where_others_listen_nothing_is_linked(world: World) -> None:
    team = world.caller(ALICE, TEAM, Participants=f"{ALICE},{BOB}")
    for act in ("offer", "confirm", "refuse", "unlink"):
        refused(team.post(f"/api/link/{act}"), 422, "link")
    refused(team.get("/api/link/waiting"), 404)
    assert team.told("/api/link/identities") == []


def test_a_key_that_may_not_read_everything_links_nothing(world: World) -> None:
    """It could read as the other identity what it may not read by itself."""
    code = world.caller(BOB).did("/api/link/offer")["code"]
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    reader = world.keyed(Scope.READ, requester=ALICE)
    narrow = world.keyed(Scope.READ, Scope.WRITE, requester=ALICE, categories=["profile"])
    for asked, status in ((writer, 403), (reader, 403), (narrow, 422)):
        refused(asked.post("/api/link/offer"), status)
        refused(asked.post("/api/link/accept", code=code), status)
        refused(asked.post("/api/link/confirm"), status)
    own = world.keyed(Scope.READ, Scope.WRITE, requester=ALICE)
    assert own.did("/api/link/accept", code=code)["identity"] == BOB
