"""How people say yes and no, ask, and decide over a numbered list, by tables in many voices."""

import re
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tacit import bots
from tacit.bots import phrases
from tacit.bots.phrases import UNCLEAR, ReplyDecision, load_phrases, parse_decision
from tests.contract.rooms import ALICE
from tests.corpus import check_corpus, read_corpus

CONTENTS = ("cat miso called", "live lisbon", "work acme designer", "tea green", "dog rex")
ITEMS = [frozenset(one.split()) for one in CONTENTS]
TABLE = Path(__file__).with_name("replies.tsv")


def told(decision: ReplyDecision | None, count: int) -> str:
    if decision is None or decision == UNCLEAR:
        return "unclear"
    every = frozenset(range(count))
    if decision.yes == every:
        return "yes-all"
    if decision.no == every:
        return "no-all"
    signs = dict.fromkeys(decision.yes, "+") | dict.fromkeys(decision.no, "-")
    return " ".join(f"{signs[place]}{place + 1}" for place in sorted(signs))


def test_a_reply_decides_what_the_table_says() -> None:
    """Columns: reply, number of memories that wait, and what is decided of them."""

    def decided(text: str, count: str) -> list[str]:
        return [told(parse_decision(text, ITEMS[: int(count)]), int(count))]

    check_corpus(TABLE, 2, decided)


def test_only_a_yes_or_no_that_names_nothing_is_bare() -> None:
    for text in ("yes", "ok", "nein danke", "keep them", "No, it is for this task"):
        decision = parse_decision(text, ITEMS[:3])
        assert decision is not None
        assert decision.bare, text
    for text in ("all", "none", "1", "yes to both", "only the first"):
        decision = parse_decision(text, ITEMS[:2])
        assert decision is not None
        assert not decision.bare, text


@given(
    st.sampled_from([text for text, _, decided in read_corpus(TABLE) if decided != "unclear"]),
    st.text(alphabet="bcdfghjkqvwxz", min_size=4, max_size=9),
    st.integers(0, 8),
    st.integers(1, 5),
)
def test_one_word_that_is_no_word_of_an_answer_keeps_nothing(text: str, word: str, place: int, count: int) -> None:
    words = text.split()
    decision = parse_decision(" ".join([*words[:place], word, *words[place:]]), ITEMS[:count])
    assert decision is None or not decision.yes


@given(
    st.lists(st.sampled_from(("yes", "ok", "all", "both", "none", "1", ",", "no")), max_size=4),
    st.sampled_from(sorted(load_phrases().not_answers)),
    st.integers(0, 4),
)
def test_words_that_close_a_talk_decide_nothing(words: list[str], closing: tuple[str, ...], place: int) -> None:
    text = " ".join([*words[:place], *closing, *words[place:]])
    assert parse_decision(text, ITEMS[:2]) is None


def test_of_what_to_forget_a_deletion_is_a_yes_and_keeping_a_no() -> None:
    for text in ("delete it", "yes", "erase everything", "forget all of them", "confirm"):
        assert told(parse_decision(text, ITEMS[:1], forgets=True), 1) == "yes-all"
    for text in ("keep it", "no", "don't delete it", "leave it", "skip", "keep everything"):
        assert told(parse_decision(text, ITEMS[:1], forgets=True), 1) == "no-all"


WORDS = "yes no not only all both none but except 1 2 3 first last rest keep forget , please cat"


@given(st.lists(st.sampled_from(WORDS.split()), max_size=8), st.integers(1, 5))
def test_whatever_is_said_nothing_is_both_kept_and_dropped(words: list[str], count: int) -> None:
    decision = parse_decision(" ".join(words), ITEMS[:count])
    if decision is not None:
        assert not decision.yes & decision.no
        assert decision.yes | decision.no <= set(range(count))


@given(st.text(max_size=250), st.integers(0, 5))
def test_any_text_is_read_without_trouble(text: str, count: int) -> None:
    parse_decision(text, ITEMS[:count])


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
