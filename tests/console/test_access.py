"""Who is let in to a page or a memory, which forms are believed, and what browsers are told."""

import re
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

import tacit
from tacit.console.app import PAGE_GROUPS
from tacit.console.site import PageAccess, PageRoute
from tests.console.asking import Caller
from tests.console.conftest import COOKIE, World, unhurried
from tests.console.seeding import ALICE, BOB, OPERATOR, in_the_room, person
from tests.console.test_memory import memory_that_says
from tests.server.http_server import served

EVERY = [page for topic in PAGE_GROUPS for page in topic.routes]
READ = [page for page in EVERY if page.method == "GET"]
SIGN_IN, ENDED = "/sign-in", "/sign-in?ended=1"


def path_of(page: PageRoute) -> str:
    return re.sub(r"\{[^}]+\}", "AAAAAAAA", page.path)


@pytest.fixture
def alice(world: World) -> Caller:
    return Caller(world, world.cookie(person=ALICE))


def test_nobody_sees_a_page_without_signing_in(world: World) -> None:
    nobody = Caller(world)
    for page in EVERY:
        if page.who is not PageAccess.PUBLIC:
            path = path_of(page)
            found = nobody.get(path) if page.method == "GET" else nobody.post(path, {})
            assert (found.status_code, found.headers["location"]) == (303, SIGN_IN), path
            assert "set-cookie" not in found.headers, path  # who comes by a link may have one that was not sent


@pytest.mark.parametrize("operator", [False, True], ids=["person", "operator"])
def test_what_is_not_for_a_visitor_is_not_there(world: World, operator: bool) -> None:
    whose = {"operator": OPERATOR} if operator else {"person": ALICE}
    visitor = Caller(world, world.cookie(**whose))
    absent = visitor.get("/nothing/of/the/kind")
    assert absent.status_code == 404
    assert "Page not found" in absent.text
    for page in EVERY:
        theirs = PageAccess.PERSON if operator else PageAccess.OPERATOR
        if page.who is theirs:
            path = path_of(page)
            found = visitor.get(path) if page.method == "GET" else visitor.do(path)
            assert (found.status_code, found.text) == (404, absent.text), path


@pytest.mark.parametrize("path", ["/", SIGN_IN, "/nothing", "/assets/x/console.css"])
def test_every_answer_tells_browsers_to_load_nothing_from_elsewhere(alice: Caller, path: str) -> None:
    found = alice.get(path).headers
    policy = found["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in found["content-security-policy"]
    assert found["cross-origin-opener-policy"] == "same-origin"
    assert found["referrer-policy"] == "same-origin"
    assert found["x-content-type-options"] == "nosniff"
    assert found["cache-control"] == ("no-cache" if "assets" in path else "no-store")


def test_a_link_that_is_only_looked_at_is_not_used_up(world: World) -> None:
    nobody = Caller(world)
    token = world.memory.console.create_link(person=ALICE).token
    for _ in range(2):
        assert nobody.get(f"{SIGN_IN}?token={token}").status_code == 200
    assert nobody.post(SIGN_IN, {"token": token}).status_code == 303
    again = nobody.post(SIGN_IN, {"token": token})
    never = nobody.post(SIGN_IN, {"token": "nonsense"})
    assert again.status_code == 403
    assert again.text == never.text


def test_the_cookie_is_for_this_host_and_no_script(world: World) -> None:
    token = world.memory.console.create_link(person=ALICE).token
    given = Caller(world).post(SIGN_IN, {"token": token}).headers["set-cookie"]
    assert given.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(given.split("; "))
    assert "Secure" not in given  # over plain HTTP, on this machine


def test_who_signs_in_gets_another_cookie_than_they_came_with(world: World, alice: Caller) -> None:
    """A sitting that somebody else prepared is of no use to them."""
    token = world.memory.console.create_link(person=BOB).token
    given = alice.post(SIGN_IN, {"token": token})
    assert given.status_code == 303
    made = given.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert made != alice.cookie
    assert alice.get("/").headers["location"] == ENDED
    assert BOB in Caller(world, made).get("/").text


def test_a_form_is_no_page(alice: Caller) -> None:
    """As where somebody loads the address again to which they sent one."""
    absent = alice.get("/nothing")
    for page in EVERY:
        if page.method == "POST" and path_of(page) not in {path_of(one) for one in READ}:
            found = alice.get(path_of(page))
            assert (found.status_code, found.text) == (404, absent.text), page.path


def test_two_cookies_are_none(world: World, alice: Caller) -> None:
    other = world.cookie(person=BOB)
    both = f"{COOKIE}={other}; {COOKIE}={alice.cookie}"
    assert alice.get("/", Cookie=both).headers["location"] == SIGN_IN


def test_a_form_without_its_token_does_nothing(world: World, alice: Caller) -> None:
    bob = Caller(world, world.cookie(person=BOB))
    for fields in ({"x": ""}, {"csrf": ""}, {"csrf": bob.token()}, {"csrf": "é" * 64}):
        assert alice.post("/sign-out", fields).status_code == 403
    assert alice.get("/").status_code == 200
    assert alice.post("/sign-out", {"x": ""}, X_CSRF_Token=alice.token()).status_code == 303
    assert alice.get("/").headers["location"] == ENDED


@pytest.mark.parametrize("operator", [False, True], ids=["person", "operator"])
def test_every_form_is_refused_without_its_token(world: World, operator: bool) -> None:
    visitor = Caller(world, world.cookie(**({"operator": OPERATOR} if operator else {"person": ALICE})))
    theirs = (PageAccess.BOTH, PageAccess.OPERATOR if operator else PageAccess.PERSON)
    forms = [page for page in EVERY if page.method == "POST" and page.who in theirs]
    assert forms
    for page in forms:
        assert visitor.post(path_of(page), {"x": ""}).status_code == 403, page.path


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_a_form_of_another_page_does_nothing(world: World, alice: Caller, headers: dict[str, str]) -> None:
    assert alice.post("/sign-out", {"csrf": alice.token()}, **headers).status_code == 403
    assert alice.get("/").status_code == 200
    token = world.memory.console.create_link(person=BOB).token
    assert Caller(world).post(SIGN_IN, {"token": token}, **headers).status_code == 403
    assert Caller(world).post(SIGN_IN, {"token": token}).status_code == 303


def test_what_is_no_form_is_refused_kindly(alice: Caller) -> None:
    token = alice.token()
    assert alice.post("/sign-out", {}, Content_Type="application/json").status_code == 422
    assert alice.post("/sign-out", {"csrf": token, "x": "y" * 300_000}).status_code == 422
    assert alice.post("/sign-out", {f"f{n}": "" for n in range(1_001)}).status_code == 422
    assert alice.get("/").status_code == 200


def test_assets_are_kept_by_browsers_and_packed(world: World) -> None:
    nobody = Caller(world)
    (path,) = re.findall(r'href="(/assets/[^"]+\.css)"', nobody.get(SIGN_IN).text)
    found = nobody.get(path)
    assert found.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in found.headers["cache-control"]
    assert found.headers["content-encoding"] == "gzip"
    assert nobody.get(path, Accept_Encoding="identity").text == found.text
    known = nobody.get(path, If_None_Match=found.headers["etag"])
    assert (known.status_code, known.content) == (304, b"")
    assert ".js" in nobody.get(path.replace("css", "js")).text


@pytest.mark.parametrize("name", ["nothing.css", "..%2f__init__.py", "%2e%2e", "..%2ftemplates%2flayout.html", "%00"])
def test_nothing_but_assets_is_handed_out_as_one(world: World, name: str) -> None:
    assert Caller(world).get(f"/assets/x/{name}").status_code in (303, 404)


def test_somebody_who_asks_too_often_is_told_when_to_go_on(tmp_path: Path) -> None:
    settings = unhurried()
    settings = replace(settings, server=replace(settings.server, rate_per_minute=4))
    with (
        tacit.open(f"sqlite:///{tmp_path}/tacit.db", embedder=None, settings=settings) as memory,
        served(memory, settings) as url,
    ):
        world = World(memory, url)
        alice = Caller(world, world.cookie(person=ALICE))
        answers = [alice.get("/") for _ in range(5)]
        assert answers[0].status_code == 200
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        bob = Caller(world, world.cookie(person=BOB))
        assert bob.get("/").status_code == 200
        strange = [Caller(world, f"tcs_{'A' * 12}_{'A' * 43}").get("/") for _ in range(5)]
        assert strange[0].headers["location"] == ENDED
        assert strange[-1].status_code == 429  # who tries cookies, too


def test_without_the_console_there_is_no_page(tmp_path: Path) -> None:
    settings = unhurried()
    settings = replace(settings, console=replace(settings.console, enabled=False))
    with (
        tacit.open(f"sqlite:///{tmp_path}/tacit.db", embedder=None, settings=settings) as memory,
        served(memory, settings) as url,
    ):
        for path in ("/", SIGN_IN, "/nothing"):
            found = httpx2.get(f"{url}{path}", headers={"Accept": "text/html"})
            assert found.status_code == 404
            assert found.json()["type"] == "urn:tacit:problem:no-such-route"


OF_ONE = [one for topic in PAGE_GROUPS for one in topic.routes if "/memories/{id}" in one.path]
FIELDS = {"word": "erase", "content": "Changed by a stranger", "version": "1", "visibility": "public_ok", "who": ALICE}
BOBS = ("Plans a surprise for Alice", "Bob likes chess")  # Alice hears the second one, in the room


def test_somebody_elses_memory_is_not_there(seeded: World) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    before = person(seeded.memory, BOB).list(state="active").items
    absent = alice.get("/memories/AAAAAAAA")
    sent = {**FIELDS, "csrf": alice.token()}
    assert absent.status_code == 404
    for words in BOBS:
        id = memory_that_says(seeded, words, BOB).id
        for page in OF_ONE:
            path = page.path.replace("{id}", id)
            found = alice.get(path) if page.method == "GET" else alice.post(path, sent)
            assert (found.status_code, found.text) == (404, absent.text), (page.method, path)
    assert person(seeded.memory, BOB).list(state="active").items == before


@pytest.mark.parametrize("act", ["forget", "restore", "pin", "unpin", "visibility"])
def test_somebody_elses_memory_is_left_out_of_what_is_done_to_many(seeded: World, act: str) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    id = memory_that_says(seeded, BOBS[1], BOB).id
    before = person(seeded.memory, BOB).show(id)
    theirs = alice.do("/chosen", act=act, to="private_only", id=id)
    nobodys = alice.do("/chosen", act=act, to="private_only", id="AAAAAAAA")
    assert theirs.text == nobodys.text
    assert "It no longer exists" in theirs.text
    assert person(seeded.memory, BOB).show(id) == before


def test_somebody_elses_memory_is_neither_erased_with_many_nor_undone(seeded: World) -> None:
    alice, bob = Caller(seeded, seeded.cookie(person=ALICE)), person(seeded.memory, BOB)
    id = memory_that_says(seeded, BOBS[1], BOB).id
    bob.pin(id)
    in_the_room(seeded.memory, BOB).update(id, "Bob likes go")
    asked = alice.do("/chosen", act="erase", id=id)
    assert "chess" not in asked.text
    assert "It no longer exists" in alice.do("/chosen/erase", word="erase", id=id).text
    marks = {"pinned": id, "forgotten": id, "restored": id, "visibility": f"{id}-public_ok-room", "reworded": f"{id}-2"}
    for what, mark in marks.items():
        assert alice.do(f"/undo/{what}", id=mark).status_code == 303
    found = bob.show(id)
    assert (found.content, found.state, found.pinned) == ("Bob likes go", "active", True)
