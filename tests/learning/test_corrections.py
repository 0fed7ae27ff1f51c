"""What a message corrects of what is known: by corpora, and where nothing is guessed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.learning.corrections.cues import (
    load_cues,
    load_restatements,
    parse_full_date,
    restate_known,
    restate_message,
)
from tacit.learning.corrections.supersession import (
    Correction,
    KnownFact,
    find_correction,
    find_superseded,
    make_known_fact,
)
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tests.corpus import check_corpus

DATA = Path(__file__).parent / "data"
NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)


def known(content: str, ago: timedelta = timedelta(minutes=5), *, just_said: bool = True) -> KnownFact:
    return KnownFact(content=content, slot=None, value=None, about_speaker=True, said_at=NOW - ago, just_said=just_said)


def known_before(content: str) -> KnownFact:
    return known(content, timedelta(minutes=10), just_said=False)


def amended(message: str, *memories: KnownFact, locale: str = "en") -> Correction | None:
    return find_correction(message, "Kim", memories, load_locale(locale), said_at=NOW)


def test_a_message_changes_what_it_corrects_and_nothing_else() -> None:
    """Columns: locale, what is known, message, and whether that is `changed` or `kept`."""

    def outcome(locale: str, content: str, message: str) -> list[str]:
        found = amended(message, known(content), locale=locale)
        return ["kept" if found is None else "changed"]

    check_corpus(DATA / "corrections.tsv", 3, outcome)


def test_the_same_in_another_construction_is_replaced_and_nothing_else() -> None:
    """Columns: a message, the next one, and whether the first is `replaced` or `kept`."""

    def outcome(before: str, after: str) -> list[str]:
        first, second = load_locale(guess_locale(before)), load_locale(guess_locale(after))
        facts = [make_known_fact(one, NOW) for one in extract_by_rules(before, "Kim", NOW, first)]
        assert facts, before
        said = extract_by_rules(after, "Kim", NOW, second)
        found = find_superseded(after, said, "Kim", facts, second, said_at=NOW)
        return ["replaced" if found else "kept"]

    check_corpus(DATA / "constructions.tsv", 2, outcome)


def test_the_old_sentence_gets_the_new_value() -> None:
    """Columns: what is known, message, the sentence that follows; none for what simply ends."""

    def wording(content: str, message: str) -> list[str]:
        found = amended(message, known(content))
        assert found is not None, message
        assert found.reason
        return [found.content or ""]

    check_corpus(DATA / "corrected_wordings.tsv", 2, wording)


def test_the_old_sentence_gets_the_value_that_was_said_in_passing() -> None:
    def wording(content: str, message: str) -> list[str]:
        found = amended(message, known_before(content))
        assert found is not None, message
        return [found.content or ""]

    check_corpus(DATA / "corrected_in_passing.tsv", 2, wording)


KNOWN = """Kim lives in Berlin
Kim's name is Marguerite
Kim's favourite colour is dark green
Kim's birthday is on 14 March
Kim is 17 years old
Kim is a nurse
Kim works at Siemens
Kim's husband is called Tobias
Kim drives a Skoda
Kim's phone is a Pixel 8
The standup is on Monday at 9
Kim's rent is 900 euros
Kim's boss is Priya Raman
Kim is vegan
Kim plays the cello""".splitlines()
FRAMES = """{}
{} please
no, {}
ok {}
yes, {}
{} instead
make it {}
actually {}
let's go with {}
the {} one
not {}
{} works better
sorry, {}
wait, {}
it's {}
that's {}
I'd say {}
change it to {}
nah, {}
scratch that, {}
{} then
rather {}
better {}
{} now
not that, {}
hmm, {}
{}, thanks
call it {}
for {}
in {}""".splitlines()
SAID = """Hamburg
Porto
Max
Anna
Thai
ramen
blue
red
a nurse
Google
Siemens
Tuesday
the 15th
3 May
7:30
10
18
950 euros
an iPhone
a BMW
the guitar
vegetarian
fine
cool
the second one
in the morning""".splitlines()


@given(st.sampled_from(KNOWN), st.sampled_from(FRAMES), st.sampled_from(SAID))
def test_no_reply_changes_what_is_known(content: str, frame: str, said: str) -> None:
    assert amended(frame.format(said), known(content)) is None


def test_nothing_known_is_nothing_to_amend() -> None:
    assert amended("no wait, it's Thursday") is None


def test_of_many_memories_the_one_that_is_meant_is_corrected() -> None:
    memories = [
        known("Kim lives in Leeds"),
        known("Kim's rent is 900 euros"),
        known("Kim's dentist is Dr. Moss"),
        known("Kim plays the oud"),
    ]
    found = amended("the rent went up to 950", *memories)
    assert found is not None
    assert found.corrects == memories[1]


def test_two_that_fit_alike_are_left_alone() -> None:
    one, other = (known("Kim's meeting with Karl is at 2pm"), known("Kim's meeting with Bo is at 1pm"))
    assert amended("the meeting got moved to 3pm", one, other) is None


def test_a_few_words_correct_what_was_said_last() -> None:
    last, before = (known("The retro is on Monday"), known("The demo is on Friday", timedelta(days=2)))
    found = amended("no wait, it's Thursday", last, before)
    assert found is not None
    assert found.corrects == last


def test_a_few_words_correct_nothing_that_was_said_long_ago() -> None:
    assert amended("no wait, it's Thursday", known("The retro is on Monday", timedelta(days=2))) is None


def test_a_few_words_without_a_value_of_that_sort_correct_nothing() -> None:
    assert amended("no wait, it's Thursday", known("Kim plays the oud")) is None


def test_the_same_again_amends_nothing() -> None:
    assert amended("I live in Leeds now", known("Kim lives in Leeds")) is None
    assert amended("my exam is on 23 June", known("Kim's exam is on 23 June 2025")) is None


@pytest.mark.parametrize(
    "message",
    [
        "did the meeting get moved to 3pm?",
        "if the meeting got moved to 3pm I'd be happy",
        "just kidding, the meeting got moved to 3pm",
        '"the meeting got moved to 3pm"',
        "maybe the meeting got moved to 3pm",
    ],
)
def test_what_is_not_stated_amends_nothing(message: str) -> None:
    assert amended(message, known("Kim's meeting with Karl is at 2pm")) is None


def test_a_value_with_a_pronoun_is_not_put_into_words() -> None:
    found = amended("I drive her old Skoda now", known("Kim drives a Volvo"))
    assert found is not None
    assert found.content is None


def test_a_language_without_words_of_change_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no words of change"):
        load_cues("tlh")


def test_both_languages_name_the_same_lists() -> None:
    english, german = load_cues("en"), load_cues("de")
    assert english.patterns.keys() == german.patterns.keys()
    missing = german.words.keys() ^ english.words.keys()
    assert not missing


WORDS = ["no", "wait", "not", "now", "I", "my", "the", "it", "is", "sold", "left", "moved"]
WORDS += ["to", "from", "Tuesday", "9:30", ",", ".", "Kim's", "3pm", "too", "anymore"]


@given(st.text(max_size=200) | st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_whatever_is_said_only_something_known_is_corrected(message: str) -> None:
    memories = [known("The standup is at 9"), known("Kim drives a Volvo"), known(message or "-")]
    found = amended(message, *memories)
    assert found is None or found.corrects in memories


def test_a_pronoun_alone_names_nobody() -> None:
    assert amended("he's in Dublin now", known_before("The backup server is in Bonn")) is None
    assert amended("it's in Dublin now", known_before("The backup server is in Bonn")) is None
    assert amended("she's retired", known_before("Kim's gran works in a bank")) is None


def test_a_noun_of_the_message_explains_its_pronoun_first() -> None:
    assert amended("got a new desk, it's in Hall 5 now", known_before("The class is in Hall 2")) is None


def test_who_has_died_lives_nowhere_but_was_born_as_before() -> None:
    assert amended("Alf passed away in March", known_before("Kim's brother Alf lives in Perth"))
    assert amended("Ted passed away in March", known_before("Kim's brother Alf lives in Perth")) is None


def test_another_sum_for_another_person_is_another_debt() -> None:
    assert amended("paid Bob back", known_before("Kim owes Bob 20"))
    assert amended("paid Ann back", known_before("Kim owes Bob 20")) is None
    assert amended("I owe Ann 30 now", known_before("Kim owes Bob 20")) is None


def test_whose_it_is_may_be_all_that_changes() -> None:
    old = known_before("The parking permit is on Tom's car")
    assert amended("the permit's on my car since yesterday", old)
    assert amended("the sticker's on my car since yesterday", old) is None


def test_other_words_are_put_into_those_that_the_rules_read() -> None:
    assert restate_message("packed in the gym", "en") == "quit the gym"
    assert restate_message("dont do it", "en") == "don't do it"
    assert restate_known("Kim does not care for jazz.", "en") == "Kim does not like jazz"


def test_a_language_without_other_words_keeps_its_text() -> None:
    assert load_restatements("xx").said == ()
    assert restate_message("ich wohne in Kiel", "de") == "ich wohne in Kiel"


@pytest.mark.parametrize("said", ["17 June 2025", "on 17 June 2025 at 18:10"])
def test_a_date_in_full_has_its_weekday(said: str) -> None:
    found = parse_full_date(said, load_locale("en"))
    assert found is not None
    assert found.weekday() == 1


@pytest.mark.parametrize("said", ["17 June", "31 June 2025", "17 Junk 2025", "Tuesday"])
def test_what_is_no_date_in_full_has_no_weekday(said: str) -> None:
    assert parse_full_date(said, load_locale("en")) is None
