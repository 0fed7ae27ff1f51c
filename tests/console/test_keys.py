"""Keys: made with a token that is shown once, listed without it, and revoked after a question."""

from collections.abc import Callable

from playwright.sync_api import expect

from tacit.records.accounts import Scope
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import OPERATOR
from tests.console.watching import faults, is_wider_than_its_window

ODD = "<b>bot</b> & co"


def test_a_token_is_shown_once_and_opens_what_it_says(
    world: World, visiting: Callable[[World], Visit]
) -> None:
    page = visiting(world)("/keys", operator=OPERATOR)
    page.get_by_role("link", name="Create a key").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill(ODD)
    form.get_by_label("Read visible memories").check()
    form.get_by_label("For one person").fill("telegram:1001")
    form.get_by_text("Only some categories").click()
    form.get_by_label("Preference").check()
    form.get_by_label("Expires after (days)").fill("30")
    assert faults(page) == []
    form.get_by_role("button", name="Create key").click()
    token = page.get_by_label("Token of").input_value()
    assert faults(page) == []
    key = world.memory.keys.authenticate(token)
    assert key is not None
    assert (key.name, key.requester) == (ODD, "telegram:1001")
    assert key.scopes == {Scope.READ}
    assert key.categories == ("preference",)
    assert key.expires_at is not None
    assert token not in page.url
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text(ODD).first).to_be_visible()
    assert token not in page.content()
    assert page.locator("main b").count() == 0
    assert faults(page) == []


def test_a_key_is_revoked_after_a_question(
    world: World, visiting: Callable[[World], Visit]
) -> None:
    made = world.memory.keys.create("bot", scopes=["read", "act-as"])
    page = visiting(world)("/keys", operator=OPERATOR, phone=True, dark=True)
    expect(page.get_by_text("any requester")).to_be_visible()
    assert faults(page) == []
    assert not is_wider_than_its_window(page)
    page.get_by_role("link", name="Revoke bot").click()
    page.get_by_role("dialog").get_by_role("link", name="Cancel").click()
    assert world.memory.keys.authenticate(made.token) is not None
    page.get_by_role("link", name="Revoke bot").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("was revoked")
    expect(page.get_by_text("Revoked", exact=True)).to_be_visible()
    assert world.memory.keys.authenticate(made.token) is None


def test_without_scripts_both_are_pages(world: World, visiting: Callable[[World], Visit]) -> None:
    page = visiting(world)("/keys", operator=OPERATOR, scripts=False)
    page.get_by_role("link", name="Create a key").click()
    page.get_by_label("Name", exact=True).fill("bot")
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("alert")).to_contain_text("name some of read, write")
    expect(page.get_by_label("Name", exact=True)).to_have_value("bot")
    assert world.memory.keys.list() == []
    page.get_by_label("Remember, update and forget").check()
    page.get_by_role("button", name="Create key").click()
    page.get_by_role("link", name="Done").click()
    page.get_by_role("link", name="Revoke bot").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("Revoked", exact=True)).to_be_visible()


def test_keys_of_another_space_are_not_there(world: World, seeded: World) -> None:
    other = world.memory.space("elsewhere").keys.create("theirs", scopes=["read"])
    ops = Caller(seeded, seeded.cookie(operator=OPERATOR))
    assert "theirs" not in ops.get("/keys").text
    absent = ops.get("/keys/nothing/revoke").text
    assert ops.get(f"/keys/{other.key.id}/revoke").text == absent
    assert ops.do(f"/keys/{other.key.id}/revoke").status_code == 404
    assert world.memory.keys.authenticate(other.token) is not None


def test_a_long_list_is_paged(world: World) -> None:
    for number in range(51):
        world.memory.keys.create(f"key number {number}", scopes=["read"])
    ops = Caller(world, world.cookie(operator=OPERATOR))
    first = ops.get("/keys").text
    assert "key number 50" in first
    assert "key number 0<" not in first
    oldest = world.memory.keys.list()[1].id
    assert "key number 0<" in ops.get(f"/keys?cursor={oldest}").text


def test_what_is_wrong_is_said_of_its_field(world: World) -> None:
    ops = Caller(world, world.cookie(operator=OPERATOR))
    for field, value in (
        ("requester", "nobody"),
        ("expires_days", "0"),
        ("categories", "no-such"),
        ("rate_per_minute", "many"),
        ("name", ""),
    ):
        fields = {"name": "bot", "scopes": "read", field: value}
        answer = ops.do("/keys", **fields)
        assert answer.status_code == 422, field
        assert f'id="{field}-problem"' in answer.text
    assert world.memory.keys.list() == []
