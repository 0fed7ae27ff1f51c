"""Made-up values in the shape of secrets. None was ever real.

They are put together when the tests run, so that no file here holds what a scanner looks for.
"""

import base64
import hashlib
import json
import random
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
