"""Long text in parts: each fits, none cuts a character, and together they say it all."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tacit.bots.messages import Span, code_span, split_spans


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def escaped(text: str) -> int:
    return sum(5 if char in "&<>" else 1 for char in text)


def texts(found: list[tuple[Span, ...]]) -> list[str]:
    return ["".join(span.text for span in part) for part in found]


def split(text: str, most: int) -> list[str]:
    return texts(split_spans([Span(text)], most, utf16))


def test_it_is_cut_at_a_paragraph_else_a_line_else_a_word() -> None:
    assert split("first one\n\nsecond one\nthird", 20) == ["first one", "second one\nthird"]
    assert split("first one\nsecond one third", 20) == ["first one", "second one third"]
    assert split("the first and the second", 16) == ["the first and", "the second"]
    assert split("\n\n\nan opening", 20) == ["an opening"]
    assert split("one\n\n\n\n  set in", 8) == ["one", "  set in"]


def test_a_word_without_end_is_cut_between_characters() -> None:
    assert split("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    family, flag, accent = "👨\u200d👩\u200d👧", "🇩🇪", "e\u0301"
    thumb, jamo = "👍🏽", "\u1112\u1161\u11ab"
    for one in (family, flag, accent, thumb, jamo):
        for part in split(one * 12, 20):
            assert part.count(one) * len(one) == len(part)


def test_a_style_goes_on_in_the_next_part() -> None:
    found = split_spans([Span("see "), code_span("alpha beta"), Span(" and so on")], 10, utf16)
    assert found == [(Span("see "), code_span("alpha")), (code_span("beta"), Span(" and")), (Span("so on"),)]


_SPANS = st.lists(
    st.builds(
        Span, st.text(st.sampled_from("ab &<é👍🇩🇪\u0301\u200d\n🏽中")), st.sampled_from(["plain", "strong", "code"])
    ),
    max_size=6,
)


@given(_SPANS, st.integers(12, 40), st.sampled_from([utf16, escaped]))
def test_whatever_is_said_every_part_fits_and_only_white_space_is_lost(
    spans: list[Span], most: int, measure: Callable[[str], int]
) -> None:
    found = split_spans(spans, most, measure)
    for part in found:
        assert sum(measure(span.text) for span in part) <= most
        assert "".join(span.text for span in part).strip()
    whole = "".join(span.text for span in spans)
    assert "".join("".join(texts(found)).split()) == "".join(whole.split())
    styled = [(char, span.style) for span in spans for char in span.text if not char.isspace()]
    kept = [(c, s.style) for part in found for s in part for c in s.text if not c.isspace()]
    assert kept == styled
