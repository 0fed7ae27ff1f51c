"""Decide whether text that has the shape of a secret is one, or a placeholder, name or path."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from itertools import pairwise

_PLACEHOLDER = re.compile(
    r"[\"'`]*(?:[<{\[(%$…]|[*xX•·#?._\-0]+[\"'`.,;)]*$|(?:process\.)?env\b|[A-Za-z_.]{1,60}[(\[]"
    r"|(?:your|my|the|some|insert|enter|replace|example|sample|dummy|fake|placeholder|redacted"
    r"|removed|hidden|todo|tbd|none|null|nil|undefined|true|false|string|str|text|n/?a|unknown"
    r"|empty|optional|required|secret|token|password|dein|deine|mein|leer|geheim)"
    r"(?:[\"'`\s_.,;)\]\-]|$))",
    re.IGNORECASE,
)
_LONG_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{32,}\Z", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_DIGIT = re.compile(r"[0-9]")
_REPEATED = re.compile(r"[xX]{4}|(.)\1{9}")
_RANDOM_MIN_CHARS = 16
_RANDOM_MIN_DISTINCT = 8
_TURNS_MIN_SHARE = 0.2
_TOKEN_MIN_DISTINCT = 6


def is_varied(match: re.Match[str]) -> bool:
    """Whether the value is not a row of x or 0, as in instructions on where to put a key."""
    body = match[match.lastindex or 0]
    return len(set(body.lower())) >= _TOKEN_MIN_DISTINCT and not _REPEATED.search(body)


def is_random(value: str) -> bool:
    """Whether letters and digits alternate as in no word or name, or the value is long hex."""
    if len(value) < _RANDOM_MIN_CHARS or len(set(value)) < _RANDOM_MIN_DISTINCT:
        return False
    if _LONG_HEX.match(value):
        return True
    if value.isascii() and not _DIGIT.search(value):
        return False
    classes = [_char_class(char) for char in value]
    if not {"letter", "digit"} <= {"digit" if one == "digit" else "letter" for one in classes}:
        return False
    turns = sum(one != other for one, other in pairwise(classes))
    return turns / len(value) >= _TURNS_MIN_SHARE


def _char_class(char: str) -> str:
    if char.isdigit():
        return "digit"
    return "upper" if char.isupper() else "lower"


def is_placeholder(value: str) -> bool:
    """Whether the value is masked, empty, or a name such as `your_token`."""
    return not value or _PLACEHOLDER.match(value) is not None


def is_not_css_class(match: re.Match[str]) -> bool:
    """Whether the value is not a name in a style sheet, such as sk-folding-cube-container."""
    parts = re.split("[-_]", match[1])
    long_with_digits = any(len(part) >= 16 and not part.isalpha() for part in parts)
    return is_varied(match) and (is_random(match[1]) or long_with_digits)


def is_discord_token(match: re.Match[str]) -> bool:
    """Whether the first part is a number (the bot's id) in base64."""
    part = match[1]
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False


def is_aws_secret(match: re.Match[str]) -> bool:
    return is_varied(match) and is_random(match[1]) and not _HEX.match(match[1])


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WIF_BYTES = (37, 38)  # 0x80, the key, a flag for compressed keys, the checksum


def is_jwt(match: re.Match[str]) -> bool:
    part = match[1]
    try:
        head = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        return False
    return b'"alg"' in head or b'"enc"' in head


def is_wallet_key(match: re.Match[str]) -> bool:
    """Whether the checksum of a wallet key is right."""
    number = 0
    for char in match[0]:
        number = number * 58 + _BASE58.index(char)
    size = (number.bit_length() + 7) // 8
    if size not in _WIF_BYTES:
        return False
    raw = number.to_bytes(size, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


_SERVER = re.compile(
    r"(?i:server|data source|host|hostname|user id|uid|user|username|database|dbname|catalog"
    r"|dsn)\s?=|jdbc:"
)
_CONNECTION_LOOK_BACK_CHARS = 160
_PATH = re.compile(r"[~./\\]|[A-Za-z]:\\|\d{1,6}\Z|https?://[^@]*\Z")
_READABLE_TYPE = re.compile(
    r"(?:str|int|bool|any|object|text|varchar|string|password|bytes|optional|required|char|field"
    r"|input|label|value|none|null|true|false|yes|no|on|off|enabled|disabled)\b",
    re.IGNORECASE,
)


def is_not_placeholder(match: re.Match[str]) -> bool:
    return not is_placeholder(match[match.lastindex or 0])


def is_connection_string(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _CONNECTION_LOOK_BACK_CHARS) : match.start()]
    return is_not_placeholder(match) and _SERVER.search(before.rpartition("\n")[2]) is not None


def is_basic_authorization(match: re.Match[str]) -> bool:
    """Whether the value is `name:password` in base64."""
    value = match[1]
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        return ":" in plain.decode("utf-8")
    except (binascii.Error, ValueError):
        return False


def is_bearer_token(match: re.Match[str]) -> bool:
    value = match[2]
    if is_placeholder(value):
        return False
    return is_random(value) or (match[1] is not None and any(char.isdigit() for char in value))


def is_setting(match: re.Match[str]) -> bool:
    """Whether the value of a setting is not a path, a number, a type or an expression."""
    value = match[1]
    if is_placeholder(value) or _PATH.match(value) or _READABLE_TYPE.match(value):
        return False
    return "(" not in value and len(value) >= 4


def is_cookie(match: re.Match[str]) -> bool:
    value = match[match.lastindex or 0]
    return not is_placeholder(value) and len(value) >= 8 and any(char.isdigit() for char in value)


def is_url_token(match: re.Match[str]) -> bool:
    value = match[1]
    return not is_placeholder(value) and (is_random(value) or (len(value) >= 12 and mixes_letters_and_digits(value)))


def mixes_letters_and_digits(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
