"""Secrets that carry a proof of what they are: web tokens and the private keys of wallets."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from tacit.screening.kind import END, START, shaped, varied

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WIF_BYTES = (37, 38)  # 0x80, the key, a mark for compressed keys, the checksum


def _jwt(match: re.Match[str]) -> bool:
    part = match[1]
    try:
        head = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        return False
    return b'"alg"' in head or b'"enc"' in head


def _wallet(match: re.Match[str]) -> bool:
    """A key for a wallet carries a checksum; fifty letters of something else do not."""
    number = 0
    for char in match[0]:
        number = number * 58 + _BASE58.index(char)
    size = (number.bit_length() + 7) // 8
    if size not in _WIF_BYTES:
        return False
    raw = number.to_bytes(size, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


KEYS = (
    shaped(
        "jwt",
        "A JSON web token.",
        ("eyj",),
        r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{10,})\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{10,}",
        _jwt,
    ),
    shaped(
        "wallet_private_key",
        "The private key of a crypto wallet.",
        ("5", "k", "l"),
        rf"{START}[5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}{END}",
        _wallet,
    ),
    shaped(
        "extended_private_key",
        "A private key from which others are made (a wallet's xprv, an age identity).",
        ("prv", "age-secret-key-1"),
        rf"{START}(?:[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{{100,112}}"
        rf"|AGE-SECRET-KEY-1[A-Z0-9]{{58}}){END}",
        varied,
    ),
)
