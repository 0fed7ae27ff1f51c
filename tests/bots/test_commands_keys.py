"""Commands show a value with its key: nobody knows what a bare "43" is."""

import pytest

from tests.bots.desk import ALICE, Desk, alone


@pytest.mark.parametrize("command", ["/mem", "/memory", "/memory list"])
def test_memories_are_listed_with_their_keys(desk: Desk, command: str) -> None:
    view = desk.memory.view(ALICE, alone(ALICE))
    size = view.put("profile", "shoe_size", "43").id
    zone = view.put("profile", "timezone", "Europe/Lisbon").id
    told = desk.say(ALICE, command).text
    assert f"[{size}] shoe_size: 43" in told
    assert f"[{zone}] timezone: Europe/Lisbon" in told


def test_what_is_forgotten_by_its_key_is_named_with_it(desk: Desk) -> None:
    view = desk.memory.view(ALICE, alone(ALICE))
    view.put("profile", "shoe_size", "43")
    told = desk.say(ALICE, "/forget shoe_size")
    assert "'shoe_size: 43'" in told.text
    assert desk.pressed(ALICE, told, "Undo").text == "Restored: 'shoe_size: 43'"
