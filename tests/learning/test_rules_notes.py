"""Notes without a verb or a subject, and the facts of a home, a team and a rota."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.dates import mark_dates
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.records.memory import Kind

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)  # a Wednesday

KEPT = [
    ("dentist fri 3pm", ["Nora has dentist on 13 June 2025 at 15:00"]),
    (
        "vet appt for the dog thurs 10am",
        ["Nora has vet appointment for the dog on 12 June 2025 at 10:00"],
    ),
    ("physio mon 9.15", ["Nora has physio on 16 June 2025 at 09:15"]),
    ("driving test 9 july", ["Nora has driving test on 9 July 2025"]),
    (
        "interview at Monzo next tuesday at 2",
        ["Nora has interview at Monzo on 17 June 2025 at 14:00"],
    ),
    ("house meeting thursday at 7pm", ["Nora has house meeting on 12 June 2025 at 19:00"]),
    ("wedding in tenerife next may", ["Nora has wedding in tenerife in May 2026"]),
    ("gym on tuesdays", ["Nora has gym on tuesdays"]),
    ("five a side on thursdays", ["Nora has five-a-side on thursdays"]),
    ("book club every second monday", ["Nora has book club every second monday"]),
    ("kids swimming lessons sat mornings", ["Nora has kids swimming lessons sat mornings"]),
    ("thesis due in september", ["Nora's thesis is due in September 2025"]),
    ("shoe size 11", ["Nora's shoe size is 11"]),
    ("collar size 16", ["Nora's collar size is 16"]),
    ("blood type o neg", ["Nora's blood type is o neg"]),
    ("5ft 4", ["Nora is 5ft 4"]),
    ("no smoking on the balcony, house rule", ["House rule: no smoking on the balcony"]),
    (
        "cleaning rota: me Mondays, Lou Wednesdays, Dmitri Saturdays",
        ["Cleaning rota: Nora Mondays, Lou Wednesdays, Dmitri Saturdays"],
    ),
    ("live in hull btw", ["Nora lives in hull"]),
    ("love olives", ["Nora loves olives"]),
    ("owe dave 20 quid", ["Nora owes dave 20 quid"]),
    ("bank with monzo", ["Nora banks with monzo"]),
    ("got spotify premium", ["Nora has spotify premium"]),
    ("got 2 cats", ["Nora has 2 cats"]),
    ("moved to york last week", ["Nora moved to york in the week of 2 June 2025"]),
    ("got a new job at bosch", ["Nora got a new job at bosch"]),
    ("work nights at the hospital", ["Nora works nights at the hospital"]),
    ("speak polish and german", ["Nora speaks polish and german"]),
    ("originally from Wales", ["Nora is originally from Wales"]),
    ("don't drink", ["Nora does not drink"]),
    ("quit vaping in March", ["Nora quit vaping in March 2025"]),
    ("goin to leeds fest in august", ["Nora is going to leeds fest in August 2025"]),
    ("off to Greece in july", ["Nora is off to Greece in July 2025"]),
    ("on the payments squad since march", ["Nora is on the payments squad since March 2025"]),
    ("gf is vegan", ["Nora's gf is vegan"]),
    ("gf is called steph", ["Nora's gf is called steph"]),
    ("mums bday is 5 may", ["Nora's mum's birthday is 5 may"]),
    ("dad's a plumber", ["Nora's dad is a plumber"]),
    ("landlord's called Mr Petrov", ["Nora's landlord is called Mr Petrov"]),
    ("dog is called rex", ["Nora's dog is called rex"]),
    ("fav team is hull city", ["Nora's favourite team is hull city"]),
    ("my phones a pixel 6", ["Nora's phone is a pixel 6"]),
    ("im alergic to penicilin", ["Nora is allergic to penicilin"]),
    ("Lou's got the middle shelf", ["Lou has the middle shelf"]),
    ("my sister Philippa's moved to Bath", ["Nora's sister Philippa has moved to Bath"]),
    ("my manager's Ingrid, skip-level is Joao", ["Nora's manager is Ingrid"]),
    ("bins go out tuesday", ["Bins go out on tuesdays"]),
    ("Bins go out Sunday night, everyone.", ["Bins go out on Sunday nights"]),
    ("rubbish day is wednesday", ["Rubbish day is on wednesdays"]),
    ("rent's due on the 1st", ["Rent is due on the 1st of the month"]),
    ("rent is £510 each", ["Rent is £510 each"]),
    ("spare key's in the teapot", ["Spare key is in the teapot"]),
    ("fuse box is in the cellar", ["Fuse box is in the cellar"]),
    ("spare mattress is in the loft", ["Spare mattress is in the loft"]),
    ("electric's with Octopus", ["Electric is with Octopus"]),
    ("Netflix is on Lou's account", ["Netflix is on Lou's account"]),
    ("plumber's coming on the 17th", ["Plumber is coming on 17 June 2025"]),
    ("quiet hours are from 10", ["Quiet hours are from 10"]),
    ("There's four of us in the flat", ["There are four people in the flat"]),
    (
        "There are twelve children coming to the party at the moment.",
        ["There are twelve children coming to the party"],
    ),
    ("we're six in the house", ["There are six people in the house"]),
    ("Dmitri's on kitchen this week", ["Dmitri is on kitchen in the week of 9 June 2025"]),
    ("on-call this week is Priya", ["On-call in the week of 9 June 2025 is Priya"]),
    ("QA lead is Omar", ["QA lead is Omar"]),
    (
        "The chairman of our gardening club is Reg.",
        ["The chairman of Nora's gardening club is Reg"],
    ),
    ("Our boiler man is Derek Pugh, lovely chap.", ["Nora's boiler man is Derek Pugh"]),
    ("Ottilie's piano teacher is Mrs Priestley.", ["Ottilie's piano teacher is Mrs Priestley"]),
    ("The warden's name is Mr Oduya.", ["The warden's name is Mr Oduya"]),
    ("our repo uses pnpm", ["Nora's repo uses pnpm"]),
    ("prod deploys from main", ["Prod deploys from main"]),
    ("CI takes 22 minutes.", ["CI takes 22 minutes"]),
    ("CI runs on GitHub Actions", ["CI runs on GitHub Actions"]),
    ("The default branch is master.", ["The default branch is master"]),
    ("We're on Python 3.11.", ["Nora is on Python 3.11"]),
    ("We're with BT for the broadband", ["Nora is with BT for the broadband"]),
    ("We track tickets in Jira.", ["Nora tracks tickets in Jira"]),
    ("docs are in Confluence", ["Docs are in Confluence"]),
    ("Logs are kept for 30 days.", ["Logs are kept for 30 days"]),
    ("standup is at 9:30", ["Standup is at 9:30"]),
    ("The incident channel is #ops-fire.", ["The incident channel is #ops-fire"]),
    ("my editor is helix", ["Nora's editor is helix"]),
    ("I'm on the PTA, for my sins, and do the raffle.", ["Nora is on the PTA"]),
    ("Ottilie is seven and thinks she's seventeen.", ["Ottilie is seven"]),
    ("My granddaughter Bethan is at Cardiff.", ["Nora's granddaughter Bethan is at Cardiff"]),
    ("I've taken up watercolours at the U3A.", ["Nora has taken up watercolours at the U3A"]),
    ("I can't abide fennel either, while we're at it.", ["Nora cannot abide fennel either"]),
    ("I don't eat anything spicy.", ["Nora does not eat anything spicy"]),
    ("When I was little we lived in Swindon", ["Nora lived in Swindon when Nora was little"]),
    (
        "I am fluent in Dutch and have basic Japanese.",
        ["Nora is fluent in Dutch", "Nora has basic Japanese"],
    ),
    (
        "Ella's got swimming on Mondays and Brownies on Thursdays.",
        ["Ella has swimming on Mondays and Brownies on Thursdays"],
    ),
    ("My doctor has put me on statins.", ["Nora's doctor has put Nora on statins"]),
    ("Wren is off sick until Monday.", ["Wren is off sick until 16 June 2025"]),
    ("my housemates are Jodie and Kaz", ["Nora's housemates are Jodie and Kaz"]),
    (
        "my names Priti im 26 and i live in leicester with my nan",
        ["Nora's name is Priti", "Nora is 26", "Nora lives in leicester with Nora's nan"],
    ),
    (
        "landlady is mrs kaur she lives downstairs",
        ["Nora's landlady is mrs kaur", "Nora's landlady lives downstairs"],
    ),
    ("I'm on leave 4-15 august", ["Nora is on leave from 4 to 15 August 2025"]),
    ("I'm away from Friday till Tuesday", ["Nora is away from 13 June 2025 till 17 June 2025"]),
    ("don't ping me on slack after 6", ["Nora wants no ping on slack after 6"]),
    ("we are a team of five", ["Nora's team has five people"]),
    ("Gustav is our contact at Norrland", ["Gustav is Nora's contact at Norrland"]),
    ("the washing machine's broken", ["The washing machine is broken"]),
]


@pytest.mark.parametrize(("text", "contents"), KEPT)
def test_a_note_is_kept_with_what_it_leaves_out(text: str, contents: list[str]) -> None:
    found = extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text)))
    assert [statement.content for statement in found] == contents


@pytest.mark.parametrize(
    ("text", "kind", "about_speaker"),
    [
        ("dentist fri 3pm", Kind.EVENT, True),
        ("gym on tuesdays", Kind.IDENTITY, True),
        ("thesis due in september", Kind.TASK, True),
        ("gf is called steph", Kind.RELATIONSHIP, True),
        ("bins go out tuesday", Kind.KNOWLEDGE, False),
        ("spare key's in the teapot", Kind.KNOWLEDGE, False),
        ("the washing machine's broken", Kind.CONTEXT, False),
        ("Dmitri's on kitchen this week", Kind.CONTEXT, False),
        ("I'm learning Portuguese on Tuesdays", Kind.IDENTITY, True),
        ("my doctor's appointment is on 24 June", Kind.EVENT, True),
    ],
)
def test_a_note_is_of_the_kind_and_the_person_it_says(
    text: str, kind: Kind, about_speaker: bool
) -> None:
    [stated] = extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text)))
    assert (stated.kind, stated.about_speaker) == (kind, about_speaker)


@pytest.mark.parametrize(
    ("text", "hour"),
    [("team meeting thursday at 2", 14), ("exam on friday at 9", 9), ("dentist fri at 05:30", 5)],
)
def test_an_early_hour_without_its_half_of_the_day_is_one_of_the_afternoon(
    text: str, hour: int
) -> None:
    [stated] = extract_by_rules(text, "Nora", NOW, load_locale(guess_locale(text)))
    assert stated.observed_at is not None
    assert stated.observed_at.hour == hour


def test_a_text_without_a_word_of_a_date_has_none() -> None:
    english = load_locale("en")
    said = (
        "on 3 May; every second Tuesday; at noon; in two weeks; next spring; twice a day; tonight"
    )
    for text in said.split("; "):
        assert mark_dates(text, NOW, english, past=False)[1], text
    assert mark_dates("my sister lives in Leeds", NOW, english, past=False) == (
        "my sister lives in Leeds",
        [],
    )
