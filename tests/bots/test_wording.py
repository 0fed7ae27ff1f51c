"""How people say yes and no, ask, and ask to be remembered; and when two sentences are one fact."""

import re
from pathlib import Path

import yaml

from tacit import bots
from tacit.bots import phrases
from tests.contract.rooms import ALICE
from tests.corpus import check_corpus


def test_phrases_mean_what_the_table_says() -> None:
    def meant(function: str, text: str, other: str) -> list[object]:
        match function:
            case "says_the_same":
                return [phrases.says_the_same(text, other, ALICE)]
            case "covers_content":
                return [phrases.covers_content(text, other, ALICE)]
            case "parse_yes_no":
                return [phrases.parse_yes_no(text)]
        asked = {
            "asks_to_remember": phrases.asks_to_remember,
            "is_question": phrases.is_question,
            "asks_to_keep": phrases.asks_to_keep,
        }
        return [asked[function](text)]

    check_corpus(Path(__file__).with_name("wording.tsv"), 3, meant)
    assert phrases.parse_yes_no("yes " * 100) is None


def test_every_text_that_the_bots_name_is_in_the_file_and_none_is_there_for_nothing() -> None:
    folder = Path(bots.__file__).parent
    source = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    written = yaml.safe_load((folder / "texts.yaml").read_text("utf-8"))
    assert set(re.findall(r"\btexts\.([A-Z_0-9]+)", source)) == written.keys()
    assert all(isinstance(text, str) for text in written.values())
