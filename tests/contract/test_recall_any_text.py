"""Any text at all is a question, or a clear error; and every script finds itself."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.records.results import Recalled
from tests.contract.conftest import Open
from tests.contract.embedders import minilm
from tests.contract.hostile import BROKEN, EMPTY, INVISIBLE, ODD
from tests.contract.rooms import ALICE, BOB, group, private

OPERATORS = [
    '"', '""', '"a', "a\"b", "'", "a*", "*", "^a", "a AND", "AND", "OR", "NOT a", "NEAR(a b, 2)",
    "content:apple", "owner : alice", "{content} : a", "-a", "+a", "a+b", "(", ")", "((a)", "a:b:c",
    "a & b", "a | b", "!a", "a <-> b", "a:*", "'a' & !b", "\\", "a\\", "$$", "%", "_", "--", ";",
    "/* a */", "a || b", "NULL", "\t", "\r\n", "\x01", "\x1f\x7f", "a\x0bb",
]  # fmt: skip
HUGE = ["x" * 100_000, "apple " * 17_000, "林" * 34_000, "🍎" * 25_000, "\u0301" * 50_000,
        "a" * 199_999 + " ", '"' * 100_000, "ﷺ" * 20_000, ("\u202eapple " * 9_000)]  # fmt: skip

anything = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(), max_size=20),  # surrogates and all
    st.lists(st.sampled_from([*OPERATORS, "apple", "🍎", "ابحث", "\x00", "\ud800"])).map(" ".join),
    st.binary(max_size=30).map(lambda data: data.decode("utf-8", "surrogateescape")),
)


def ask(view: object, query: str) -> None:
    """Results or one of our errors, whichever way it is asked."""
    for name in ("recall", "query", "fresh"):
        try:
            found = getattr(view, name)(query)
        except tacit.InvalidInput as error:
            problem = (error.field, len(str(error)) < 300)
            assert problem == ("query", True)
            continue
        if name == "recall":
            assert all(isinstance(one, Recalled) and 0 <= one.similarity <= 1 for one in found)
            assert all(one.why and one.score >= 0 for one in found)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(query=anything)
@example(query="\ud800 apple")
@example(query="apple\x00")
def test_any_text_is_a_question(memory: Memory, query: str) -> None:
    view, here = private(memory, ALICE), group(memory, BOB)
    if not view.list(limit=1):
        view.remember("apple 🍎 ابحث AND owner", visibility="public_ok", sensitivity="public")
    ask(view, query)
    ask(here, query)


def test_operators_quotes_and_odd_marks_are_text(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple AND owner alice")
    for query in (*OPERATORS, *ODD, *EMPTY, *INVISIBLE, *BROKEN):
        ask(view, query)


def test_a_very_long_question_is_answered(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple 林")
    for query in HUGE:
        ask(view, query)
    assert len(view.recall("apple " * 17_000)) == 1
    with pytest.raises(tacit.InvalidInput, match="query"):
        view.recall("x" * 200_001)


def test_any_text_is_a_question_by_meaning_too(opened: Open) -> None:
    view = private(opened("sqlite://", embedder=minilm()), ALICE)
    view.remember("apple AND owner alice")
    for query in (*OPERATORS, *ODD, *EMPTY, *INVISIBLE, *BROKEN, *HUGE):
        ask(view, query)


def test_an_empty_question_brings_nothing_to_mind(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple")
    for query in ("", " ", "\n\t", "?!", "…", "the of and"):
        assert view.recall(query) == [], query
        assert view.query(query) == [], query


SCRIPTS = {
    "Chinese": ("我妹妹住在里斯本", "妹妹住在哪里", "里斯本"),
    "Japanese": ("毎朝コーヒーを飲みます", "コーヒー", "毎朝何を飲む？"),
    "Japanese kana": ("わたしはりんごがすきです", "りんご", "すき"),
    "Korean": ("나는 서울에서 일합니다", "서울", "서울에서"),
    "half-width kana": ("ｶﾀｶﾅ テスト", "カタカナ", "ｶﾀｶﾅ"),
    "accented": ("Le café de la Gare à Besançon", "café", "Besançon"),
    "accents left out": ("Zoë naïve résumé", "zoe", "resume"),
    "accents put in": ("Zoe wrote a resume", "Zoë", "résumé"),
    "decomposed": ("cafe\u0301 noir", "café", "cafe\u0301"),
    "German": ("Die Straße heißt Größenweg", "STRASSE", "größenweg"),
    "Turkish": ("İstanbul'da yaşıyorum", "istanbul", "İSTANBUL"),
    "Greek": ("Η Μαρία μένει στην Αθήνα", "Αθήνα", "ΑΘΗΝΑ"),
    "Russian": ("Моя сестра живёт в Москве", "сестра", "МОСКВЕ"),
    "Ukrainian": ("Їжак живе у лісі", "їжак", "лісі"),
    "Arabic": ("أختي تسكن في القاهرة", "القاهرة", "أختي"),
    "Hebrew": ("אחותי גרה בחיפה", "בחיפה", "אחותי"),
    "Hindi": ("मेरी बहन दिल्ली में रहती है", "दिल्ली", "बहन"),
    "Bengali": ("আমার বোন ঢাকায় থাকে", "ঢাকায়", "বোন"),
    "Tamil": ("என் சகோதரி சென்னையில்", "சென்னையில்", "சகோதரி"),
    "Thai": ("น้องสาวของฉันอยู่ที่กรุงเทพ", "กรุงเทพ", "น้องสาว"),
    "Vietnamese": ("Chị tôi sống ở Đà Nẵng", "Đà Nẵng", "da nang"),
    "emoji": ("my favourite is 🍕", "🍕 favourite"),
    "wide letters": ("ＡＢＣ company", "abc", "ＡＢＣ"),
    "ligature": ("the oﬃce key", "office", "oﬃce"),
}


def test_every_script_finds_itself_by_words_alone(memory: Memory, subtests: pytest.Subtests) -> None:
    for number, (script, (text, *queries)) in enumerate(SCRIPTS.items()):
        view = private(memory.space(f"script-{number}"), ALICE)
        view.remember("nothing of the kind here")
        view.remember("une autre chose, 其他的事, その他, 기타")
        view.remember(text)
        for query in (text, *queries):
            with subtests.test(f"{script}: {query}"):
                found = view.recall(query)
                assert found
                assert found[0].memory.content == text
