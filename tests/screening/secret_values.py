"""Made-up values in the shape of secrets. None was ever real.

They are put together when the tests run, so that no file here holds what a scanner looks for.
"""

import base64
import hashlib
import json
import random
import re
import string

from tacit.screening.secrets import passes_luhn

_DICE = random.Random(7361)
LOWER_HEX = "0123456789abcdef"
BASE62 = string.ascii_letters + string.digits
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
UPPER = string.ascii_uppercase + string.digits


def some(count: int, alphabet: str = BASE62) -> str:
    """Characters by the dice, with a letter and a digit among them for certain."""
    letter = next(one for one in alphabet if one.isalpha())
    return "".join(_DICE.choices(alphabet, k=count - 2)) + letter + "7"


def card(start: str, size: int) -> str:
    body = start + some(size - len(start) + 1, "a" + string.digits)[:-2].replace("a", "4")
    body = body[: size - 1]
    return next(body + last for last in string.digits if passes_luhn(body + last))


def spaced(digits: str, mark: str = " ") -> str:
    return mark.join(digits[place : place + 4] for place in range(0, len(digits), 4))


def iban(country: str, account: str) -> str:
    number = int("".join(str(int(char, 36)) for char in account + country + "00"))
    return f"{country}{98 - number % 97:02d}{account}"


def wallet_key() -> str:
    raw = bytes([128]) + _DICE.randbytes(32) + b"\x01"
    raw += hashlib.sha256(hashlib.sha256(raw).digest()).digest()[:4]
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = BASE58[rest] + text
    return text


def packed(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def pem(label: str, wrap: str = "\n") -> str:
    edge = "-" * 5
    body = wrap.join(some(64, BASE62 + "+/") for _ in range(4))
    return f"{edge}BEGIN {label}{edge}{wrap}{body}{wrap}{edge}END {label}{edge}"


VISA, AMEX = card("4532", 16), card("37", 15)
ACCOUNT = iban("DE", "370400440532013000")
WALLET = wallet_key()
JWT = f"{packed({'alg': 'HS256'})}.{packed({'sub': 'bob'})}.{some(43)}"
BASIC = base64.b64encode(b"bob:not-a-real-one").decode()
SEED = "apple river stone cloud tiger lamp ocean music dance forest silver candle"
RED, BLUE = "hunter" + "2", "Sommer" + "2024"
HOOKS = "hooks.slack.com/services"
VALUES = {
    "RED": RED,
    "BLUE": BLUE,
    "VISA": VISA,
    "ACCOUNT": ACCOUNT,
    "SEED": SEED,
    "HOOKS": HOOKS,
    "WALLET": WALLET,
    "JWT": JWT,
    "BASIC": BASIC,
    "UNSIGNED_JWT": JWT.rpartition(".")[0],
    "AMEX_GROUPS": f"{AMEX[:4]} {AMEX[4:10]} {AMEX[10:]}",
    "VISA_SPACED": spaced(VISA),
    "VISA_DASHED": spaced(VISA, "-"),
    "VISA_LINES": spaced(VISA, "\n"),
    "VISA_DIGITS": " ".join(VISA),
    "WRONG_VISA": VISA[:-1] + str((int(VISA[-1]) + 1) % 10),
    "ACCOUNT_SPACED": spaced(ACCOUNT),
    "ACCOUNT_LOWER": spaced(ACCOUNT).lower(),
    "WRONG_ACCOUNT": ACCOUNT[:-1] + "9",
    "BRITISH": iban("GB", "WEST12345698765432"),
    "WRONG_WALLET": WALLET[:-1] + ("2" if WALLET[-1] != "2" else "3"),
    "NUMBERED_SEED": " ".join(f"{n}. {word}" for n, word in enumerate(SEED.split(), 1)),
    "DISCORD_ID": base64.b64encode(b"7361736173617361736").decode()[:24],
    "NO_LOGIN": base64.b64encode(b"hello there").decode(),
    "TOTP": some(16, "ABCDEFGH234567")[:-1] + "7",
    "ESCAPED_PEM": pem("PRIVATE KEY", "\\n"),
    "SPREAD_PEM": pem("EC PRIVATE\nKEY", "\n\n"),
    "ONE_LINE_PEM": pem("PRIVATE KEY", " "),
}
ALPHABETS = {"BASE58": BASE58, "LOWER_HEX": LOWER_HEX, "UPPER": UPPER}


def fill_in(text: str) -> str:
    """Put made-up values where a text of secrets.tsv names them."""
    return re.sub(r"\{(\w+)(?: ([^{}]*))?\}", _value, text).replace("¦", "")


def _value(named: re.Match[str]) -> str:
    word, given = named[1], named[2] or ""
    if word == "some":
        size, _, alphabet = given.partition(" ")
        return some(int(size), ALPHABETS.get(alphabet, BASE62))
    if word == "card":
        start, _, size = given.partition(" ")
        return card(start, int(size))
    return pem(given) if word == "pem" else VALUES.get(word, named[0])
