"""What stands in the places of a form: whether it may, and how a slot says it."""

from __future__ import annotations

import re

from tacit.learn.reading.forms import Form
from tacit.learn.reading.mentions import is_name, kin_of
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import When

_WORD = re.compile(r"[\w'-]+")
# What somebody likes, hates or is allergic to, and does.
_MEANT = frozenset(
    ["thing", "liked", "object", "allergen", "preferred", "interest", "pursuit", "subject_matter"]
)
_LOWER_MAX_COUNT = 4  # words of a name written small
_DIMENSION_MAX_COUNT = 3  # words
_MARK = re.compile("⟦[dt]\\d⟧")
_SLOT_VALUE_MAX_CHARS = 60
_TOKEN = re.compile(r"⟦[dt]\d⟧|[\w'-]+(?:[.:,]\d+)*")
_PLACE = "#"


def acceptable(group: str, text: str, tongue: Tongue, *, lower: bool) -> bool:
    capture = tongue.captures[group]
    words = [word.casefold() for word in _WORD.findall(text)]
    if _MARK.sub("", text).strip(" ,") == "":
        return False  # a date or an hour alone is no thing
    if not words or len(words) > capture.words or text != text.strip(" ,.-"):
        return False
    if words[0] in capture.never_first or any(word in capture.never for word in words):
        return False
    folded = " ".join(words)
    if group in _MEANT and folded in tongue.words["jest"]:
        return False
    if group == "liked" and folded in tongue.words["first_names"]:
        return False  # a person is no taste
    if capture.only is not None:
        ends = capture.ends is not None and capture.ends.search(words[-1]) is not None
        return folded in capture.only or words[-1] in capture.only or ends
    if group in ("name", "names"):
        return all(is_name(one, tongue) for one in tongue.patterns["listed"].split(text) if one)
    if capture.proper:
        bare = _bare(words, tongue)
        known = bool(bare) and bool({" ".join(bare), bare[0], bare[-1]} & capture.known)
        return (
            known
            or any(char.isupper() for char in text)
            or (lower and not capture.strict and bare == words and len(words) < _LOWER_MAX_COUNT)
        )
    return True


def filled(match: re.Match[str], form: Form, whens: list[When], tongue: Tongue) -> dict[str, str]:
    """The captures of a match as slots and values write them; what is missing is left out."""
    found = {"at": " ".join(when.iso for when in whens)} if whens else {}
    for name, text in match.groupdict().items():
        if not text:
            continue
        when = next((when for when in whens if when.mark == text), None)
        if when:
            # What recurs has a day, and no year of its own unless one was said.
            found[name] = when.iso[5:] if form.recurs and when.relative else when.iso
            continue
        if _MARK.search(text):
            continue
        if name == "contact":
            found[name] = " ".join(text.casefold().split())  # every sign of it counts
            continue
        value = normal(text, tongue)
        if form.types.get(name) in _MEANT and set(value.split()) & tongue.words["conjunctions"]:
            continue  # several at once fill no single slot
        if form.types.get(name) == "place" and text.islower() and _unnamed(value, tongue):
            continue  # "the city" is a place, but the name of none
        found[name] = value
        dimension = _dimension(value, tongue)
        if dimension:
            found.setdefault("dimension", dimension)
        if name == "kin" and text.casefold() in tongue.kin:
            kin = kin_of(text, match.groupdict().get("mod") or "", tongue)
            found["kin"] = kin.word
            if kin.slot:
                found["kin_slot"] = kin.slot
        if name == "counted":
            found["counted"] = singular(value, tongue)
        if name == "event" and match.groupdict().get("where"):
            found["event"] = normal(f"{text} {match['where']}", tongue)
    return found


def frame(said: str, whens: list[When], tongue: Tongue) -> tuple[str | None, str | None]:
    """What no form has a slot for, as the words around its only number, name or hour: "runs # km
    a week" of 30. What is said again as a change, with another in its place, is a new value."""
    found: list[str] = []
    words: list[str] = []
    texts = {when.mark: when.text for when in whens}
    for position, token in enumerate(_TOKEN.findall(said)):
        known = texts.get(token) or _counted(token, tongue) or _named(token, position, tongue)
        if known is None:
            words.append(token.casefold())
        elif words[-1:] == [_PLACE]:
            found[-1] += f" {known}"
        else:
            words.append(_PLACE)
            found.append(known)
    telling = any(word != _PLACE and word not in tongue.words["small"] for word in words)
    if len(found) != 1 or not telling:
        return None, None
    return f"frame:{' '.join(_bare(words, tongue))}", normal(found[0], tongue)


def _counted(token: str, tongue: Tongue) -> str | None:
    number = tongue.dates.words["numbers"].get(token.casefold())
    if token.casefold() in tongue.words["articles"]:
        return None
    return str(number) if number else token if token[:1].isdecimal() else None


def _named(token: str, position: int, tongue: Tongue) -> str | None:
    capital = position and token[:1].isupper() and tongue.texts["names"] == "capital"
    return token if capital else None


def _unnamed(value: str, tongue: Tongue) -> bool:
    words = set(value.split())
    return bool(words & tongue.words["somewhere"]) and not words & tongue.words["places"]


def normal(text: str, tongue: Tongue) -> str:
    words = _WORD.findall(text.casefold())
    numbers = tongue.dates.words["numbers"]
    if len(words) == 1 and words[0] in numbers:
        return str(numbers[words[0]])
    return " ".join(_bare(words, tongue))[:_SLOT_VALUE_MAX_CHARS].strip()


def singular(text: str, tongue: Tongue) -> str:
    if text in tongue.kin:
        return tongue.kin[text].word
    for pattern, new in tongue.singular:
        if pattern.search(text):
            return pattern.sub(new, text, count=1)
    return text


def _bare(words: list[str], tongue: Tongue) -> list[str]:
    """Words without the articles and the like that they open with."""
    while words and words[0] in tongue.words["articles"]:
        words = words[1:]
    return words


def _dimension(value: str, tongue: Tongue) -> str | None:
    if value in tongue.dimensions:
        return tongue.dimensions[value]
    words = value.split()
    if len(words) > _DIMENSION_MAX_COUNT:
        return None  # "window seats on long flights" leaves room for another
    return next((tongue.dimensions[w] for w in words if w in tongue.dimensions), None)
