"""What the rules keep of a message, by corpora of messages: plain statements, notes and chatter."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import StatedFact
from tests.corpus import check_corpus, read_corpus

DATA = Path(__file__).parent / "data"
SUNDAY = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)
WEDNESDAY = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)


def extract(speaker: str, locale: str, text: str, said_at: datetime) -> list[StatedFact]:
    """Where a corpus names no locale, it is guessed from the message."""
    return extract_by_rules(text, speaker, said_at, load_locale(locale or guess_locale(text)))


@pytest.mark.parametrize(
    ("corpus", "said_at"),
    [("statements_sunday.tsv", SUNDAY), ("statements_wednesday.tsv", WEDNESDAY), ("hearsay.tsv", SUNDAY)],
)
def test_a_message_is_kept_as_the_statements_of_its_line(corpus: str, said_at: datetime) -> None:
    """Columns: speaker, locale, message, and each statement that is kept; none for chatter."""

    def contents(speaker: str, locale: str, text: str) -> list[str]:
        return [found.content for found in extract(speaker, locale, text, said_at)]

    check_corpus(DATA / corpus, 3, contents)


def test_hearsay_is_marked_and_names_whom_it_is_about() -> None:
    for speaker, locale, text, *_ in read_corpus(DATA / "hearsay.tsv"):
        found = [one for one in extract(speaker, locale, text, SUNDAY) if one.hearsay]
        assert found, text
        assert all(one.about and not one.about_speaker for one in found), text
