"""Stories of a bot that has no language model: each dialogue of without_model.txt is one."""

from pathlib import Path

from tests.bots.chats import Driver, Scenario
from tests.bots.dialogues import Dialogue, Player, read_dialogues


def _scenario(dialogue: Dialogue) -> Scenario:
    def play(driver: Driver) -> None:
        Player(driver).play(dialogue)

    return Scenario(dialogue.title, play, None)


WITHOUT_MODEL = tuple(map(_scenario, read_dialogues(Path(__file__).with_name("without_model.txt"))))
