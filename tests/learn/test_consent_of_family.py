"""A family's own facts are kept without asking only where somebody said them plainly."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tacit.learn.classify import classify
from tacit.learn.consent import Circumstances, Confirm, Verdict, consent
from tacit.learn.reading.rules import extract
from tacit.learn.reading.tongue import tongue
from tacit.learn.reconcile import Decision, Outcome

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EN = tongue("en")
(TOLD,) = [
    classify(one, EN, NOW)
    for one in extract("My daughter Mia is allergic to eggs", "Nora", NOW, EN)
]
NEW = Decision(outcome=Outcome.NEW, reason="", content=TOLD.content, statement=TOLD)


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
    circumstances = Circumstances(
        confirm=confirm,
        own_word=False,
        declined=declined,
        signals=signals,
        inferred=inferred,
        of_family=family,
    )
    kept = consent(NEW, TOLD, circumstances).verdict is Verdict.KEEP
    assert kept == (family and not inferred and not declined and confirm is Confirm.NEVER)
