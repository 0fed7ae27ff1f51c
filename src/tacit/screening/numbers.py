"""Secrets that are numbers, told from other numbers by their checksums: cards, accounts, SSN."""

from __future__ import annotations

import re
from itertools import groupby

from tacit.screening.kind import SecretKind, compiled

# Digits that stand together, with at most three marks between two groups of them.
_RUN = r"(?<![A-Za-z0-9_+])(?<!\d\.)\d+(?:[ \t\n.\-_/]{1,3}\d+)*(?![A-Za-z0-9_])"
_GROUP = re.compile(r"\d+")
_CARD_MIN_DIGITS = 13
_CARD_MAX_DIGITS = 19
_FIRST_GROUP_MIN_DIGITS = 4
# First digits from and to, and how many digits such a card has.
_ISSUERS = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("6011", "6011", (16, 19)),  # Discover
    ("644", "659", (16, 19)),
    ("3528", "3589", (16, 19)),  # JCB
    ("300", "305", (14,)),  # Diners Club
    ("36", "36", (14,)),
    ("38", "39", (14,)),
    ("62", "62", (16, 17, 18, 19)),  # UnionPay
    ("2200", "2204", (16,)),  # Mir
    ("5018", "5018", (16, 18, 19)),  # Maestro
    ("5020", "5020", (16, 18, 19)),
    ("5038", "5038", (16, 18, 19)),
    ("6304", "6304", (16, 18, 19)),
    ("6759", "6763", (16, 18, 19)),
    ("60", "60", (16,)),  # RuPay
    ("81", "82", (16,)),
)

# Letters and digits of an account number, by country.
_IBAN_CHARS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "FO", "GL", "NL", "SD", "FK"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "XK", "MN"), 20),
    **dict.fromkeys(("CH", "CR", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "MR", "SM", "BI", "DJ"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}
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
_LOOK_BACK_CHARS = 24


def has_card(text: str) -> bool:
    return any(_card_in(run[0]) for run in compiled(_RUN).finditer(text))


def _card_in(run: str) -> bool:
    groups = _GROUP.findall(run)
    if _in_small_groups(groups):
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
            if _as_on_a_card(sizes) and _card(digits):
                return True
    return False


def _in_small_groups(groups: list[str]) -> bool:
    """Single digits or pairs, with hardly any more beside: lists of numbers are longer."""
    for size, alike in groupby(groups, len):
        digits = "".join(alike)
        if size in (1, 2) and _CARD_MIN_DIGITS <= len(digits) <= _CARD_MAX_DIGITS + 2:
            starts = range(0, len(digits) - _CARD_MIN_DIGITS + 1, size)
            sizes = range(_CARD_MIN_DIGITS, _CARD_MAX_DIGITS + 1)
            if any(_card(digits[at : at + many]) for at in starts for many in sizes):
                return True
    return False


def _as_on_a_card(sizes: list[int]) -> bool:
    """In one piece, in fours, or as American Express and Diners Club do."""
    if len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4], [8, 8], [4, 4, 5]):
        return True
    return len(sizes) > 3 and set(sizes[:-1]) == {4} and sizes[-1] <= 4


def _card(digits: str) -> bool:
    issued = any(
        len(digits) in sizes and low <= digits[: len(low)] <= high for low, high, sizes in _ISSUERS
    )
    return issued and luhn(digits) and len(set(digits)) > 1


def luhn(digits: str) -> bool:
    """The checksum that cards carry."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def has_iban(text: str) -> bool:
    return any(_iban(text, start) for start in compiled(_IBAN_START).finditer(text))


def _iban(text: str, start: re.Match[str]) -> bool:
    size = _IBAN_CHARS.get(start[1].upper())
    if size is None:
        return False
    account: list[str] = []
    # Each character may be followed by a mark; what is read is bounded by the longest account.
    for place in range(start.start(), min(len(text), start.start() + 2 * size)):
        char = text[place]
        if char.isascii() and char.isalnum():
            account.append(char.upper())
            if len(account) == size:
                after = text[place + 1 : place + 2]
                return not (after.isascii() and after.isalnum()) and mod97(account)
        elif char not in _IBAN_MARKS:
            return False
    return False


def mod97(account: list[str]) -> bool:
    """The checksum that an IBAN carries in its third and fourth character."""
    moved = account[4:] + account[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def has_ssn(text: str) -> bool:
    for match in compiled(_SSN).finditer(text):
        before = text[max(0, match.start() - _LOOK_BACK_CHARS) : match.start()]
        if _ssn(match[1], match[3], match[4]) and not _OTHER_NUMBER.search(before):
            return True
    return any(
        _ssn(match[1], match[2], match[3]) for match in compiled(_SSN_LABELLED).finditer(text)
    )


def _ssn(area: str, group: str, serial: str) -> bool:
    never_given = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return not never_given


_DIGITS = tuple("0123456789")

NUMBERS = (
    SecretKind(
        name="payment_card", says="The number of a payment card.", hints=_DIGITS, found=has_card
    ),
    SecretKind(name="iban", says="The number of a bank account.", hints=_DIGITS, found=has_iban),
    SecretKind(
        name="us_ssn", says="A social security number of the USA.", hints=_DIGITS, found=has_ssn
    ),
)
