"""A family's own facts are kept without asking only where somebody said them plainly."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.reconciliation import (
    Confirm,
    ConsentContext,
    ConsentVerdict,
    ReconcileDecision,
    ReconcileOutcome,
    decide_consent,
)
from tacit.learning.verification import classify_statement

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EN = load_locale("en")
(TOLD,) = [
    classify_statement(one, EN, NOW) for one in extract_by_rules("My daughter Mia is allergic to eggs", "Nora", NOW, EN)
]
NEW = ReconcileDecision(outcome=ReconcileOutcome.NEW, reason="", content=TOLD.content, statement=TOLD)


@given(
    confirm=st.sampled_from(Confirm),
    declined=st.booleans(),
    inferred=st.booleans(),
    family=st.booleans(),
    signals=st.integers(0, 3),
)
def test_family_is_asked_about_unless_somebody_said_it_plainly(
    confirm: Confirm, declined: bool, inferred: bool, family: bool, signals: int
) -> None:
    circumstances = ConsentContext(
        confirm=confirm, own_word=False, declined=declined, signals=signals, inferred=inferred, of_family=family
    )
    kept = decide_consent(NEW, TOLD, circumstances).verdict is ConsentVerdict.KEEP
    assert kept == (family and not inferred and not declined and confirm is Confirm.NEVER)
