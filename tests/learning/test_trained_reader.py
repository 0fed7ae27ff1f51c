"""The trained reader: its pieces of words, its encoder, its labels, and what is done with damaged files."""

from __future__ import annotations

import ast
import random
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tacit.errors import LanguageFailed
from tacit.learning import reading
from tacit.learning.extraction.locale import load_locale
from tacit.learning.facts import StatedFact
from tacit.learning.reader import network, reader
from tacit.learning.reader.reader import load_reader
from tacit.learning.reader.wordpiece import WordPieceTokenizer

ROOT = Path(__file__).resolve().parent.parent.parent
SAID_AT = datetime(2026, 2, 4, 12, tzinfo=UTC)


def vocabulary() -> dict[str, int]:
    text = (resources.files("tacit.embeddings") / "data" / "wordpiece.txt").read_text("utf-8")
    return {piece: number for number, piece in enumerate(text.removesuffix("\n").split("\n"))}


def read(text: str, before: str = "", *, group: bool = False) -> list[StatedFact]:
    turn = reading.ReadableTurn(text=text, before=before, asked=before, said_at=SAID_AT, group=group)
    return reading.read_message(load_reader(), [], turn, "Nora", load_locale("en"))


def test_pieces_of_words_are_those_of_the_training() -> None:
    numbers = vocabulary()
    theirs = Tokenizer(models.WordPiece(vocab=numbers, unk_token="[UNK]", max_input_chars_per_word=100))
    theirs.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ours = WordPieceTokenizer(numbers)
    draw = random.Random(7)
    letters = "abcdefgh ABC éüçñ ß œ ı ĳ İ 漢字 кот שלום 'n't-., !?\n\t 0123 🎉 ½ ﬁ"
    texts = ["I'm vegetarian & allergic to nuts!", "", "   ", "Zürich—Łódź", "x" * 150]
    texts += ["".join(draw.choice(letters) for _ in range(draw.randrange(60))) for _ in range(400)]
    for text in texts:
        expected, got = theirs.encode(text, add_special_tokens=False), ours.tokenize(text)
        assert got.ids == expected.ids, text
        assert all(0 <= start < stop <= len(text) for start, stop in got.places), text


def test_a_batch_reads_like_one_at_a_time() -> None:
    encoder = load_reader()._network
    ids = [[101, 1045, 2444, 1999, 4068, 102], [101, 2053, 102], [101, *range(2000, 2060), 102]]
    segments = [[0] * len(one) for one in ids]
    together = encoder.encode(ids, segments)
    for one, kind, rows in zip(ids, segments, together, strict=True):
        alone = encoder.encode([one], [kind])[0]
        assert rows.shape == alone.shape == (len(one), 384)
        assert np.allclose(rows, alone, atol=1e-3)


def test_labels_are_those_of_the_training() -> None:
    tree = ast.parse((ROOT / "training" / "labels.py").read_text("utf-8"))
    namespace: dict[str, object] = {}
    exec(compile(tree, "labels.py", "exec"), namespace)  # noqa: S102  plain lists of our own
    for name in ("KINDS", "ABOUT", "LASTS", "CHANGES", "SLOTS", "RESTS", "HOLDS", "RELATIONS"):
        assert namespace[name] == getattr(reader, name), name


def test_every_conjunct_is_found() -> None:
    text = "I'm vegetarian and allergic to nuts"
    spans = load_reader().read(text).spans
    assert [text[one.start : one.end] for one in spans] == ["I'm vegetarian", "allergic to nuts"]
    assert spans[1].best("sens") == "sensitive"


def test_spans_hold_whole_words() -> None:
    text = "femke got married in february, iwona lives in rotterdam with her"
    for one in load_reader().read(text).spans:
        assert one.start == 0 or not (text[one.start].isalnum() and text[one.start - 1].isalnum())
        assert one.end == len(text) or not (text[one.end - 1].isalnum() and text[one.end].isalnum())


@pytest.mark.parametrize("text", ["", "   ", "🎉🎉🎉", "...", "a" * 5_000, "word " * 4_000, "\u0301" * 3_000])
def test_odd_texts_are_read(text: str) -> None:
    found = load_reader().read(text, text)
    assert all(0 <= one.start < one.end <= len(text) for one in found.spans)
    assert all(0.0 <= chance <= 1.0 for *_, chance in found.pieces)


def test_a_long_message_is_read_in_stretches_up_to_a_limit() -> None:
    text = "We talked about the weather and the train. " * 40 + "I am allergic to penicillin."
    place = text.index("penicillin")
    assert load_reader().read(text).chance_of(place, place + 10) is not None
    text = "We talked about the weather and the train. " * 400 + "I am allergic to penicillin."
    place = text.index("penicillin")
    assert load_reader().read(text).chance_of(place, place + 10) is None


def test_the_judge_tells_a_change_from_a_fact_beside_it() -> None:
    changed, beside = load_reader().judge(
        [
            ("Nora works at Adyen", "left adyen, im at booking now"),
            ("Nora is allergic to nuts", "also can't do shellfish"),
        ]
    )
    assert max(changed, key=changed.__getitem__) == "replaces"
    assert max(beside, key=beside.__getitem__) == "coexists"
    assert load_reader().judge([]) == []


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.npz"
    with pytest.raises(LanguageFailed, match=r"cannot be read.*install Tacit again"):
        network.load_arrays(path, "0" * 64)
    path.write_bytes(b"something else")
    with pytest.raises(LanguageFailed, match=r"not the one of this version.*install Tacit again"):
        network.load_arrays(path, "0" * 64)


def test_without_its_files_the_rules_learn_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[Path] = []

    def damaged(folder: Path) -> None:
        tried.append(folder)
        raise LanguageFailed("the file words.npz of the trained reader cannot be read")

    monkeypatch.setattr(reader, "TrainedReader", damaged)
    monkeypatch.setattr(reader, "_loaded", [])
    assert reading.find_reader(load_locale("en")) is None
    assert reading.find_reader(load_locale("en")) is None
    assert len(tried) == 1
    assert "only plain sentences are understood" in caplog.text


def test_a_language_that_it_was_not_trained_in_is_left_to_the_rules() -> None:
    assert reading.find_reader(load_locale("de")) is None


def test_a_quotation_tells_nothing_of_others_beside_what_it_is_about() -> None:
    """A fact that cannot be worded is kept as its sentence, but never with what the sentence says of somebody else."""
    text = "my colleague Sam is HIV positive, central arkansas is where i live"
    facts = read(text)
    own = [one for one in facts if one.about_speaker]
    assert own
    assert all("HIV" not in one.content for one in own)


def test_a_bare_reply_is_a_choice() -> None:
    assert read("vegetarian please", "Vegan or vegetarian?") == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I'm vegetarian and allergic to nuts", "Nora is allergic to nuts"),
        ("my sister ana moved to porto", "Nora's sister ana moved to porto"),
        ("stop using emojis with me", "Nora asks the assistant: stop using emojis with Nora"),
    ],
)
def test_what_is_found_is_put_into_the_third_person(text: str, content: str) -> None:
    facts = read(text)
    assert content in [one.content for one in facts]


@pytest.mark.parametrize("text", ["No emojis please, ever", "no need to ask before booking things for me"])
def test_a_denial_is_not_cut_off(text: str) -> None:
    assert all("no " in one.content.lower() for one in read(text))


def test_a_group_keeps_nothing_of_somebody_who_is_not_named() -> None:
    text = "she got caught cheating on her exam and her mum has cancer"
    assert all(one.about_speaker or one.about for one in read(text, group=True))
