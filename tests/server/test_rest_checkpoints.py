"""Checkpoints over HTTP: saved, read, and never written over what somebody else saved."""

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, World, alike, good, refused

DATA = {"step": 3, "notes": ["a", None, 1.5], "open": {"x": True}}
PATH = "/api/checkpoints/plans%2Fweekend"


def test_a_checkpoint_is_read_as_it_was_saved(world: World) -> None:
    asked = world.caller()
    saved = good(asked.put(PATH, data=DATA))
    assert saved["data"] == DATA
    assert saved["thread"] == "plans/weekend"
    read = asked.get(PATH)
    assert good(read) == saved
    assert read.headers["etag"] == f'"v{saved["version"]}"'
    assert good(asked.delete(PATH)) is None
    refused(asked.get(PATH), 404)
    assert good(asked.delete(PATH)) is None


def test_without_a_thread_it_is_that_of_the_request(world: World) -> None:
    weekend = world.caller(Thread="plans/weekend")
    saved = good(weekend.put("/api/checkpoints", data=1))
    assert good(world.caller().get(PATH)) == saved == weekend.told("/api/checkpoints")
    refused(world.caller().get("/api/checkpoints"), 404)
    assert good(weekend.delete("/api/checkpoints")) is None
    refused(world.caller().get(PATH), 404)


def test_a_checkpoint_that_moved_on_is_not_written_over(world: World) -> None:
    asked = world.caller()
    first = good(asked.put(PATH, data=1, version=0))["version"]
    refused(asked.put(PATH, data=2, version=0), 409)
    second = good(asked.put(PATH, data=2, version=first))["version"]
    refused(asked.put(PATH, data=3, version=first), 409)
    matching = asked.with_headers(If_Match=f'"v{first}"')
    refused(matching.put(PATH, data=3), 412)
    for tags in ('"v999"', '"nonsense"', '"v1", "x"', "v1", f'"v{first}", "v7"'):
        refused(asked.with_headers(If_Match=tags).put(PATH, data=3), 412)
    refused(asked.with_headers(If_None_Match="*").put(PATH, data=3), 412)
    third = good(asked.with_headers(If_Match=f'"v{second}"').put(PATH, data=3))
    fourth = good(asked.with_headers(If_Match=f'"x", "v{third["version"]}"').put(PATH, data=4))
    assert good(asked.with_headers(If_Match="*").put(PATH, data=5))["version"] > fourth["version"]


def test_a_first_checkpoint_can_be_asked_to_be_the_first(world: World) -> None:
    asked = world.caller()
    refused(asked.with_headers(If_Match="*").put(PATH, data=1), 412)
    assert good(asked.with_headers(If_None_Match="*").put(PATH, data=1))["data"] == 1


def test_what_is_saved_again_under_its_key_is_saved_once(world: World) -> None:
    first = good(world.caller().put(PATH, data=1))["version"]
    again = world.caller().with_headers(Idempotency_Key="s2", If_Match=f'"v{first}"')
    assert good(again.put(PATH, data=2)) == good(again.put(PATH, data=2))
    refused(again.put(PATH, data=3), 412)
    assert good(world.caller().get(PATH))["data"] == 2


def test_a_checkpoint_is_its_persons_and_in_private_alone(world: World) -> None:
    good(world.caller().put(PATH, data=DATA))
    for other in (world.caller(BOB), world.caller(ALICE, TEAM), world.keyed(*Scope, requester=BOB)):
        alike(other.get(PATH), other.get("/api/checkpoints/never"))
        refused(other.get(PATH), 404)
    refused(world.caller(ALICE, TEAM).put(PATH, data=1), 422, "checkpoint")
    assert good(world.caller(BOB).put(PATH, data="own"))["data"] == "own"
    assert good(world.caller(BOB).delete(PATH)) is None
    assert good(world.caller().get(PATH))["data"] == DATA
