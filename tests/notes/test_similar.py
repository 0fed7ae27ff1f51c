"""Which wordings say the same, and which only look like it."""

import pytest

from tacit.notes.merge import has_same_words, is_alike, normalize_text, says_less


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The deploy is blocked by failing tests",
            "The deploy is blocked by the failing unit tests",
        ),
        ("Falcon ships in May", "falcon  ships in May."),
        ("Users reported slow uploads", "users are reporting slow uploads"),
        ("Der Server ist seit gestern langsam", "Der Server ist seit gestern sehr langsam"),
        ("网站 已经 上线", "网站已经上线"),
    ],
)
def test_other_words_around_the_same_thing_are_alike(one: str, other: str) -> None:
    assert is_alike(one, other)
    assert is_alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The build takes 12 minutes today", "The build takes 14 minutes today"),
        ("Call Bob about the invoice", "Call Ana about the invoice"),
        ("Bob owes money to Ana since spring", "Ana owes money to Bob since spring"),
        ("Two of 3 servers and 4 disks failed", "Two of 4 servers and 3 disks failed"),
        ("The release is ready for testing", "The release is not ready for testing"),
        ("The door is open", "The door isn't open"),
        ("Der Server ist bereit", "Der Server ist nicht bereit"),
        ("The key of the front door is lost", "The key of the back door is lost"),
        ("Learn C++ at work", "Learn C# at work"),
        ("Buy milk", "Buy oat milk"),
        ("milk", "milk"),
        ("", ""),
    ],
)
def test_a_number_name_denial_or_other_word_tells_them_apart(one: str, other: str) -> None:
    assert not is_alike(one, other)
    assert not is_alike(other, one)


def test_case_spacing_and_a_full_stop_make_no_difference() -> None:
    assert normalize_text("  Ship   the thing.\n") == normalize_text("ship the THING")
    assert normalize_text("C++") != normalize_text("C#")
    assert normalize_text("schön") != normalize_text("schon")
    assert normalize_text("!!!") != normalize_text("...")


def test_the_same_words_in_another_form_are_the_same_task() -> None:
    assert has_same_words("Call the plumber", "call plumber")
    assert not has_same_words("Buy bread and milk", "Buy bread, milk and eggs")
    assert not has_same_words("Pay 10 euros", "Pay 20 euros")


def test_whoever_says_less_leaves_words_out() -> None:
    assert says_less("bread, milk", "bread, milk and eggs")
    assert not says_less("bread, milk and eggs", "bread, milk")
    assert not says_less("bread", "milk")
