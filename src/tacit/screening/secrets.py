"""Find secrets in a text: keys by their shape, numbers by their checksum, passwords in sentences.

secrets.toml lists the kinds. To add one, add an entry there and a case to tests/screening.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Any

from tacit.screening import secret_checks
from tacit.screening.secret_checks import is_placeholder, is_random, mixes_letters_and_digits
from tacit.text import list_readings

# Numbers with a checksum: payment cards, bank accounts, social security numbers.

# Groups of digits with at most three marks between two groups.
_DIGIT_RUN = r"(?<![A-Za-z0-9_+])(?<!\d\.)\d+(?:[ \t\n.\-_/]{1,3}\d+)*(?![A-Za-z0-9_])"
_DIGIT_GROUP = re.compile(r"\d+")
_CARD_MIN_DIGITS = 13
_CARD_MAX_DIGITS = 19
_FIRST_GROUP_MIN_DIGITS = 4

_IBAN_START = r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}[A-Za-z0-9 \-.\n]"
_IBAN_MARKS = " -.\n"

_SSN = r"(?<![A-Za-z0-9_+.\-])(\d{3})([ \-])(\d{2})\2(\d{4})(?![A-Za-z0-9_]|[\-.]\d)"
_SSN_LABELLED = (
    r"(?i:\bssns?\b|social security (?:number|no\.?|#)|sozialversicherungsnummer der usa)"
    r"[^\d\n]{0,20}(?<!\d)(\d{3})[ \-.]?(\d{2})[ \-.]?(\d{4})(?!\d)"
)
_OTHER_NUMBER = re.compile(
    r"(?i:order|invoice|ticket|part|case|ref|reference|tracking|serial|model|item|sku|flight"
    r"|bestellung|rechnung|artikel|phone|tel|fax)s?(?:nummer)?[ :#]{0,3}"
    r"(?i:(?:no\.?|nr\.?|number|nummer|id|is|was|ist|lautet)[ :#]{1,3}){0,3}\Z"
)
_NUMBER_LOOK_BACK_CHARS = 24


def has_card(text: str) -> bool:
    return any(_has_card_in_run(run[0]) for run in compile_pattern(_DIGIT_RUN).finditer(text))


def _has_card_in_run(run: str) -> bool:
    groups = _DIGIT_GROUP.findall(run)
    if _has_card_in_small_groups(groups):
        return True
    for first in range(len(groups)):
        if len(groups[first]) < _FIRST_GROUP_MIN_DIGITS:
            continue
        digits = ""
        for last in range(first, len(groups)):
            digits += groups[last]
            if len(digits) > _CARD_MAX_DIGITS:
                break
            if len(digits) < _CARD_MIN_DIGITS:
                continue
            sizes = [len(group) for group in groups[first : last + 1]]
            if _is_card_grouping(sizes) and _is_card(digits):
                return True
    return False


def _has_card_in_small_groups(groups: list[str]) -> bool:
    """Find a card in single digits or pairs; a longer run is a list of numbers."""
    for size, alike in groupby(groups, len):
        digits = "".join(alike)
        if size in (1, 2) and _CARD_MIN_DIGITS <= len(digits) <= _CARD_MAX_DIGITS + 2:
            starts = range(0, len(digits) - _CARD_MIN_DIGITS + 1, size)
            sizes = range(_CARD_MIN_DIGITS, _CARD_MAX_DIGITS + 1)
            if any(_is_card(digits[at : at + many]) for at in starts for many in sizes):
                return True
    return False


def _is_card_grouping(sizes: list[int]) -> bool:
    """Whether the groups are one piece, fours, or those of American Express or Diners Club."""
    if len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4], [8, 8], [4, 4, 5]):
        return True
    return len(sizes) > 3 and set(sizes[:-1]) == {4} and sizes[-1] <= 4


def _is_card(digits: str) -> bool:
    issued = any(
        len(digits) in sizes and low <= digits[: len(low)] <= high
        for low, high, sizes in _read_table()["numbers"]["card_issuers"]
    )
    return issued and passes_luhn(digits) and len(set(digits)) > 1


def passes_luhn(digits: str) -> bool:
    """Whether the digits pass the Luhn checksum of payment cards."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


@cache
def _iban_chars() -> Mapping[str, int]:
    sizes = _read_table()["iban"].items()
    return {country: int(size) for size, countries in sizes for country in countries.split()}


def has_iban(text: str) -> bool:
    return any(_is_iban(text, start) for start in compile_pattern(_IBAN_START).finditer(text))


def _is_iban(text: str, start: re.Match[str]) -> bool:
    size = _iban_chars().get(start[1].upper())
    if size is None:
        return False
    account: list[str] = []
    # A mark may follow each character, so at most twice the length is read.
    for place in range(start.start(), min(len(text), start.start() + 2 * size)):
        char = text[place]
        if char.isascii() and char.isalnum():
            account.append(char.upper())
            if len(account) == size:
                after = text[place + 1 : place + 2]
                return not (after.isascii() and after.isalnum()) and passes_mod97(account)
        elif char not in _IBAN_MARKS:
            return False
    return False


def passes_mod97(account: list[str]) -> bool:
    """Whether an account passes the IBAN checksum in its third and fourth character."""
    moved = account[4:] + account[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def has_ssn(text: str) -> bool:
    for match in compile_pattern(_SSN).finditer(text):
        before = text[max(0, match.start() - _NUMBER_LOOK_BACK_CHARS) : match.start()]
        if _is_ssn(match[1], match[3], match[4]) and not _OTHER_NUMBER.search(before):
            return True
    return any(_is_ssn(match[1], match[2], match[3]) for match in compile_pattern(_SSN_LABELLED).finditer(text))


def _is_ssn(area: str, group: str, serial: str) -> bool:
    never_given = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return not never_given


# Secrets stated in words: a label such as "password", with a value beside it.

_QUOTES = "\"'`"
_VALUE_LOOK_AHEAD_CHARS = 200
_LABEL_LOOK_BACK_CHARS = 120
_LATER_WORDS_COUNT = 8
_STRONG_MIN_CHARS = 6
_SHORTEST_CHARS = 3
_LETTERS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*\Z")
# Letters with digits that are no password: 1Password, 10:30am, 8-character, 2nd, v1.2, Q3.
_HARMLESS_VALUE = re.compile(
    r"\d{1,2}[:.]\d\d(?:am|pm|h|uhr)?\Z|\d+-?[a-zäöü]+\Z|v?\d+(?:[.-]\d+)+[a-z]?\Z|1password\Z"
    r"|[a-z]+-?\d{1,3}\Z(?<=256|512|365|b64|e64)|utf-?(?:8|16)\Z|https?://|[a-z]+'s\Z",
    re.IGNORECASE,
)
_DIRECT_VALUE = re.compile(r"(?:'s)?[ \t]+(?:(?:-|to|auf|as|als|into)[ \t]+)?(\S{3,100})")
_CLAUSE = re.compile(r"[.!?](?=\s|$)|[;\n]")
_TRAILING = ".,;:!?)]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretWords:
    """The vocabulary of words.yaml, all languages together."""

    labels: Mapping[str, re.Pattern[str]]  # by the kind of secret
    link: re.Pattern[str]  # between a label and its value
    reverse: re.Pattern[str]  # "... is my", before a label
    stops: frozenset[str]
    meanwhile: frozenset[str]
    ordinary: frozenset[str]
    endings: tuple[str, ...]
    units: frozenset[str]


@cache
def secret_words() -> SecretWords:
    """Load words.yaml at first use."""
    import yaml

    languages = yaml.safe_load(_read_data("words.yaml")).values()
    labels: dict[str, list[str]] = {}
    for language in languages:
        for kind, spellings in language["labels"].items():
            labels.setdefault(kind, []).extend(str(spellings).split("|"))
    links = _alternatives(_split_entries(languages, "links"))
    about = _alternatives(_split_entries(languages, "about"))
    owners = _alternatives(_split_entries(languages, "owners"))
    return SecretWords(
        labels={
            kind: re.compile(rf"(?<![^\W_])(?:{_alternatives(found)})(?![\w-])", re.IGNORECASE)
            for kind, found in labels.items()
        },
        link=re.compile(
            rf"[\"'`*]{{0,3}}(?:\s?\([^)\n]{{1,40}}\))?"
            rf"(?:\s+(?:{about})\s+(?:[^\n!?;:=.]|\.(?=\S)){{1,60}}?)?"
            rf"\s{{0,4}}(?:(?P<mark>[:=]=?|[-=]+>|\u2192)|(?<=\s)(?P<word>{links})(?!\w)\s{{0,2}}:?)\s{{0,4}}",
            re.IGNORECASE,
        ),
        reverse=re.compile(rf"(\S{{3,80}})\s+(?:{links})\s+(?:{owners})\s+(?:\S{{1,30}}\s+){{0,2}}\Z", re.IGNORECASE),
        stops=frozenset(_split_entries(languages, "stops")),
        meanwhile=frozenset(_split_entries(languages, "meanwhile")),
        ordinary=frozenset(_split_entries(languages, "ordinary")),
        endings=tuple(_split_entries(languages, "endings")),
        units=frozenset(_split_entries(languages, "units")),
    )


def _split_entries(languages: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    """Split at bars or, in lists of single words, at spaces."""
    written = [str(language.get(key, "")) for language in languages]
    return [word for one in written for word in (one.split("|") if "|" in one else one.split())]


def _alternatives(spellings: Iterable[str]) -> str:
    """Return a pattern with the longest first, so that 'pin code' wins over 'pin'."""
    found = sorted({*spellings}, key=lambda one: (-len(one), one))
    return "|".join(re.escape(one).replace(r"\ ", r"[\s-]?") for one in found if one)


def has_stated_value(kind: str, text: str) -> bool:
    """Whether a label of this kind has a value beside it."""
    return any(_has_value_beside(text, label) for label in secret_words().labels[kind].finditer(text))


def find_label_tails(kind: str, text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield for each label the text after it, whether a link is between, and the text before."""
    for label in secret_words().labels[kind].finditer(text):
        tail = text[label.end() : label.end() + _VALUE_LOOK_AHEAD_CHARS]
        link = secret_words().link.match(tail)
        before = text[max(0, label.start() - _LABEL_LOOK_BACK_CHARS) : label.start()]
        yield tail[link.end() if link else 0 :], link is not None, before + label[0]


def _has_value_beside(text: str, label: re.Match[str]) -> bool:
    tail = text[label.end() : label.end() + _VALUE_LOOK_AHEAD_CHARS]
    link = secret_words().link.match(tail)
    if link:
        return _is_value(tail[link.end() :], marked=link["mark"] is not None)
    # "user bob password hunter2"
    direct = _DIRECT_VALUE.match(tail)
    if direct and (_is_quoted_value(direct[1]) or _is_strong(direct[1].rstrip(_TRAILING))):
        return True
    if not re.match(r"[ \t]*(?:[.,;!?)\n]|$)|\s+(?:for|on|at|to|and|but|für|bei|und|zum)\b", tail):
        return False
    before = secret_words().reverse.search(text[max(0, label.start() - _LABEL_LOOK_BACK_CHARS) : label.start()])
    if not before:
        return False
    return _is_quoted_value(before[1]) or _is_strong(before[1], _SHORTEST_CHARS + 2)


def _is_value(rest: str, *, marked: bool) -> bool:
    """Whether a value is stated: 'hunter2' and 'swordfish' are values, 'expired' is not."""
    pieces = rest.partition("\n")[0].split()
    while pieces and pieces[0].lower().rstrip(",") in secret_words().meanwhile:
        pieces.pop(0)
    first = pieces[0].rstrip(_TRAILING) if pieces else ""
    if not first:
        return False
    if _is_ordinary(first):
        return _has_later_value(" ".join(pieces))
    if is_placeholder(pieces[0]):
        return False
    if first[0] in _QUOTES:
        return _is_quoted_value(" ".join(pieces))
    if not _LETTERS.match(first):
        return _is_odd_value(pieces, marked)
    if marked:
        return len(first) >= _SHORTEST_CHARS
    return _stands_alone(pieces) and len(first) >= _SHORTEST_CHARS


def _is_odd_value(pieces: list[str], marked: bool) -> bool:
    """Whether a word with digits or marks is a value, and not a length or a time."""
    first = pieces[0].rstrip(_TRAILING)
    if first.isdigit():
        unit = len(pieces) > 1 and pieces[1].lower().rstrip(_TRAILING) in secret_words().units
        return len(first) >= _SHORTEST_CHARS and not unit
    if _HARMLESS_VALUE.match(first) and not marked:
        return bool(re.match(r"\d+[a-z]+\d*\Z", first)) and not _is_measure(first) and _stands_alone(pieces)
    return len(first) >= _SHORTEST_CHARS and any(char.isalnum() for char in first)


def _is_measure(first: str) -> bool:
    return re.match(r"\d+(?:st|nd|rd|th|am|pm|x|d|h|m|s|password)\Z", first.lower()) is not None


def _is_ordinary(word: str) -> bool:
    plain = word.lower()
    known = secret_words()
    return plain in known.ordinary or (len(plain) > 4 and plain.endswith(known.endings))


def _stands_alone(pieces: list[str]) -> bool:
    """Whether the words end after the value, or none of them belongs to a sentence."""
    for piece in pieces:
        plain = piece.lower()
        bare = plain.rstrip(_TRAILING)
        if bare in secret_words().stops:
            return True
        if bare in secret_words().ordinary:
            return False
        if plain != bare:
            return True
    return True


def _has_later_value(rest: str) -> bool:
    """Find a value later in the clause: 'The password is the one we always use: Rex2019!'"""
    first, *others = [piece.strip(_QUOTES + _TRAILING) for piece in _CLAUSE.split(rest)[0].split()]
    if any(_is_strong(piece) for piece in others[:_LATER_WORDS_COUNT]):
        return True
    # "correct horse battery staple": words that form no sentence.
    return (
        len(first) > _SHORTEST_CHARS
        and len(others) >= _SHORTEST_CHARS
        and not any(_is_ordinary(piece) or not piece.isalpha() for piece in others)
        and not secret_words().stops.intersection(others)
    )


def _is_quoted_value(value: str) -> bool:
    if not value or value[0] not in _QUOTES:
        return False
    inside = value[1:].split(value[0], 1)[0].strip()
    return len(inside) >= _SHORTEST_CHARS and not is_placeholder(inside)


def _is_strong(value: str, min_chars: int = _STRONG_MIN_CHARS) -> bool:
    """Whether a value mixes letters and digits, unlike a word."""
    if len(value) < min_chars or is_placeholder(value) or _HARMLESS_VALUE.match(value):
        return False
    return mixes_letters_and_digits(value)


# Finders of the stated kinds: passwords, PINs, codes, phrases, labelled keys.

_PIN_DIGITS = re.compile(r"(?:'s )?[\"'`*#]{0,2}(\d{3,12}|\d{1,2}(?:[ -]\d{1,2}){2,5})(?![.,:/-]?\d|[A-Za-z])")
_DOOR_CODE = (
    r"(?i:\b(?:code|combination|kombination)\s(?:for|to|of|on|at|für|zur|zum|der|vom|von|an)\s"
    r"[^\n.!?:=]{0,40}?(?:door|gate|safe|alarm|garage|lock|entrance|house|building|lift|elevator"
    r"|tür|tor|tresor|haus|schloss|keller)\w{0,10}"
    r"\s?(?:is|was|ist|war|lautet|:|=)\s?(?:now |jetzt )?)#?(\d{4,8})(?!\d)"
)
_CODE = re.compile(r"[\"'`]?(?:[A-Z]-)?(\d{3,4}[ -]\d{3,4}|\d{4,10})(?![\d-]|[A-Za-z])")
_BARE_CODE_MIN_DIGITS = 5  # four digits may be a year
_BACKUP_CODE = re.compile(r"[\"'`]?([A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{4,8})*|\d{4,10})")
_SENT_CODE = (
    r"(?<![\w-])(?:[A-Z]-)?(\d{4,8}) (?i:is|ist) (?i:your|ihr|dein|the|der)"
    r" (?i:[^\n.!?]{0,60}?(?:code|otp|passcode|pin|tan)\b)"
)
_CODE_TO_ENTER = (
    r"(?i:\b(?:use|enter|type|nutze|gib)\s(?:[A-Z]-)?\d{4,8}\s(?:as|to|als|ein)\b[^\n.]{0,40}?"
    r"(?:code|verify|log ?in|sign ?in|confirm|anmeld)|\bcode\b\W{1,3}\d{4,8}\b[^\n.]{0,30}?"
    r"(?:to|zum) (?:verify|log ?in|sign ?in|confirm|bestätigen|anmelden))"
)
_TAN = r"\b[A-Za-z]{0,8}-?TAN\b[^\d\n]{0,20}(\d{6,10})(?!\d)"
_OWNED = re.compile(
    r"(?:\b(?:my|our|the|his|her|their|your|card|phone|bank|door|sim|debit|atm|account|meine?r?|die"
    r"|unsere?|karten|konto|handy)\s(?:\S{1,20}\s)?|[-:,\n]\s?|^)\S{0,4}(?:pin|code)\Z",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"(?i:pin|code)\Z")
_POSTAL = re.compile(r"(?i:\b(?:india|address|postal|city|district|state|deliver\w*|pin ?codes?)\b)")
_WIFI_CODE = r"(?i:WIFI:)(?:[TSHR]:[^;\n]{0,80};){0,4}P:([^;\n]{1,80});"
_WIFI_NEAR = re.compile(r"(?i:\b(?:wi-?fi|wlan|ssid|hotspot|wireless)\b)")
_NEAR_CHARS = 60
_TOKEN = re.compile(r"[\"'`(]{0,2}([A-Za-z0-9+/_=~.:$!@-]{8,})")
_KEY_MIN_CHARS = 20
_SECRET_MIN_CHARS = 12
_DIGIT = re.compile(r"[0-9]")
_HEX_OR_UUID = re.compile(r"[0-9a-fA-F-]+\Z")
_NO_SECRET_BEFORE = re.compile(
    r"(?i:\b(?:page|next|continuation|sync|pagination|cursor|public|primary|foreign|sort|partition"
    r"|idempotency|cache|row|object|etag|s3|design|cancellation|öffentlicher?)[ _-]?\S{0,12})\Z"
)
_PAIR = re.compile(r"(\S{2,80})\s{0,2}(?:/|\||,|:|\s)\s{0,2}(\S{4,80})")
_SEED_SIZES = (12, 15, 18, 21, 24)
_SEED_WORD = re.compile(r"[a-z]{3,8}\Z")
_SEED_SPLIT = re.compile(r"(?:[\s,;|\"'`]|\d{1,2}[.):]|-(?=\s))+")
# Words that no seed phrase contains, but every sentence of twelve words does.
_NOT_IN_SEEDS = frozenset(
    """
    the and are was has had but for not our his her its been were which their would could from
    und der die das nicht ein eine auf mit den von ist
    """.split()  # noqa: SIM905 (a list of words reads better as one)
)


def has_password(text: str) -> bool:
    return has_stated_value("password", text)


def has_wifi_password(text: str) -> bool:
    if compile_pattern(_WIFI_CODE).search(text) or has_stated_value("wifi", text):
        return True
    near = _WIFI_NEAR.search(text)
    if not near:
        return False
    return has_stated_value("password", text[max(0, near.start() - _NEAR_CHARS) : near.end() + 2 * _NEAR_CHARS])


def has_pin(text: str) -> bool:
    if compile_pattern(_DOOR_CODE).search(text):
        return True
    for rest, linked, before in find_label_tails("pin", text):
        found = _PIN_DIGITS.match(rest.lstrip())
        if not found or (len(found[1]) < 4 and not linked):
            continue
        unit = rest.lstrip()[found.end() :].split(maxsplit=1)
        if unit and unit[0].lower().rstrip(".,") in secret_words().units:
            continue
        if len(found[1]) == 6 and _POSTAL.search(text) and "code" in before[-5:].lower():
            continue  # a postal code of India
        if linked or before.endswith("PIN") or not _VAGUE.search(before) or _OWNED.search(before):
            return True
    return False


def has_card_code(text: str) -> bool:
    for rest, _, _ in find_label_tails("card_code", text):
        found = _PIN_DIGITS.match(rest.lstrip())
        if found and len(found[1]) in (3, 4):
            return True
    return False


def has_one_time_code(text: str) -> bool:
    if any(compile_pattern(one).search(text) for one in (_SENT_CODE, _CODE_TO_ENTER, _TAN)):
        return True
    for rest, linked, before in find_label_tails("one_time", text):
        code = _CODE.match(rest.lstrip())
        if code and (linked or len(code[1]) >= _BARE_CODE_MIN_DIGITS):
            return True
        found = _BACKUP_CODE.match(rest.lstrip())
        if found and linked and any(char.isdigit() for char in found[1]) and _is_backup_label(before):
            return True
    return False


def _is_backup_label(before: str) -> bool:
    return re.search(r"(?:recovery|backup|wiederherstellungs)[ -]?codes?\Z", before.lower()) is not None


def has_seed_phrase(text: str) -> bool:
    if not secret_words().labels["seed"].search(text):
        return False
    run = 0
    for piece in _SEED_SPLIT.split(text):
        word = piece.rstrip(".!?")
        if _SEED_WORD.match(word) and word not in _NOT_IN_SEEDS:
            run += 1
            if run >= _SEED_SIZES[0]:
                return True
        else:
            run = 0
    return False


def has_labelled_secret(text: str) -> bool:
    for rest, linked, before in find_label_tails("secret", text):
        found = _TOKEN.match(rest.lstrip())
        if not found or is_placeholder(found[1]):
            continue
        value = found[1].rstrip(".:")
        if not is_random(value) and not (linked and _has_long_mix(value)):
            continue
        if not _NO_SECRET_BEFORE.search(before):
            return True
    return any(_is_bare_key(*one) for one in find_label_tails("key", text))


def _is_bare_key(rest: str, linked: bool, before: str) -> bool:
    """Whether a 'key' has a long random value that is no hash or id: the word has other uses."""
    found = _TOKEN.match(rest.lstrip())
    if not found or not linked:
        return False
    value = found[1].rstrip(".:")
    if len(value) < _KEY_MIN_CHARS or not is_random(value) or _HEX_OR_UUID.match(value):
        return False
    return not _NO_SECRET_BEFORE.search(before)


def _has_long_mix(value: str) -> bool:
    if not _DIGIT.search(value):
        return False  # fast path
    parts = re.split(r"[^A-Za-z0-9]", value)
    return any(len(part) >= _SECRET_MIN_CHARS and not part.isalpha() and not part.isdigit() for part in parts)


def has_login(text: str) -> bool:
    for rest, linked, _ in find_label_tails("login", text):
        found = _PAIR.match(rest)
        if not found or not linked or is_placeholder(found[2]):
            continue
        value = found[2].rstrip(".,;)")
        if len(value) >= 6 and mixes_letters_and_digits(value):
            return True
    return False


# The table of kinds, and the search.

# Every secret with a shape has one of these: a mark, a digit in a long word, or a long number. Most
# sentences have none, so that only stated secrets are searched in them.
_MAY_HOLD_SHAPE = re.compile(r"[_=:/@$+~]|-----|[A-Za-z0-9-]{6}[0-9]|[0-9][A-Za-z0-9-]{6}|[0-9][0-9\s./-]{6}")
_FRAGMENT = re.compile(r"<<(\w+)>>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The kind of a secret that was found. Neither its text nor its position is kept."""

    kind: str
    says: str  # one sentence for people


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKind:
    name: str
    says: str  # one sentence for people
    hints: tuple[str, ...]  # lower case; a text without any of them is not searched
    found: Callable[[str], bool]


@cache
def secret_kinds(*, stated_only: bool = False) -> tuple[SecretKind, ...]:
    """Return the kinds of secrets.toml in the order in which they are searched."""
    table = _read_table()
    fragments: dict[str, str] = {}
    for name, pattern in table["fragments"].items():
        fragments[name] = _join_pattern(pattern, fragments)
    entries = table["stated"] if stated_only else (*table["shape"], *table["stated"])
    return tuple(
        SecretKind(
            name=entry["name"],
            says=entry["says"],
            hints=tuple(entry["hints"]),
            found=globals()[entry["finder"]]
            if "finder" in entry
            else _pattern_finder(_join_pattern(entry["pattern"], fragments), entry.get("check")),
        )
        for entry in entries
    )


def _join_pattern(pattern: str | list[str], fragments: Mapping[str, str]) -> str:
    return _FRAGMENT.sub(lambda name: fragments[name[1]], "".join(pattern))


def _pattern_finder(pattern: str, check: str | None) -> Callable[[str], bool]:
    """Return a function that searches a text for the pattern and applies the check to matches."""
    accepts = getattr(secret_checks, check) if check else bool

    def found(text: str) -> bool:
        return any(map(accepts, compile_pattern(pattern).finditer(text)))

    return found


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile at first use: most texts need a few of the patterns."""
    return re.compile(pattern)


@cache
def _read_table() -> dict[str, Any]:
    return tomllib.loads(_read_data("secrets.toml"))


def _read_data(name: str) -> str:
    return resources.files("tacit.screening").joinpath(name).read_text("utf-8")


@cache
def _all_hints(*, stated_only: bool) -> frozenset[str]:
    return frozenset(hint for kind in secret_kinds(stated_only=stated_only) for hint in kind.hints)


def find_secret(text: str) -> Secret | None:
    """Return the first kind of secret in a text, or None."""
    for reading in list_readings(text):
        # Every write waits for this: most texts contain no hint at all.
        lower = reading.lower()
        stated_only = not _MAY_HOLD_SHAPE.search(reading)
        present = {hint for hint in _all_hints(stated_only=stated_only) if hint in lower}
        for kind in secret_kinds(stated_only=stated_only) if present else ():
            if not present.isdisjoint(kind.hints) and kind.found(reading):
                return Secret(kind=kind.name, says=kind.says)
    return None


def may_name_secret(name: str) -> bool:
    """Whether a value with this name may be a secret because of its name: a password, a code."""
    hints = _all_hints(stated_only=True)
    return any(hint in one.lower() for one in list_readings(name) for hint in hints)
