"""The kinds of secrets that are stated in words: passwords, PINs, codes, phrases, labelled keys."""

from __future__ import annotations

import re

from tacit.screening.kind import SecretKind, compiled, placeholder, random
from tacit.screening.words import after, stated, words

_DIGITS = re.compile(
    r"(?:'s )?[\"'`*#]{0,2}(\d{3,12}|\d{1,2}(?:[ -]\d{1,2}){2,5})(?![.,:/-]?\d|[A-Za-z])"
)
_DOOR_CODE = (
    r"(?i:\b(?:code|combination|kombination)\s(?:for|to|of|on|at|für|zur|zum|der|vom|von|an)\s"
    r"[^\n.!?:=]{0,40}?(?:door|gate|safe|alarm|garage|lock|entrance|house|building|lift|elevator"
    r"|tür|tor|tresor|haus|schloss|keller)\w{0,10}"
    r"\s?(?:is|was|ist|war|lautet|:|=)\s?(?:now |jetzt )?)#?(\d{4,8})(?!\d)"
)
_CODE = re.compile(r"[\"'`]?(?:[A-Z]-)?(\d{3,4}[ -]\d{3,4}|\d{4,10})(?![\d-]|[A-Za-z])")
_BARE_CODE_MIN_DIGITS = 5  # a year may stand there
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
_POSTAL = re.compile(
    r"(?i:\b(?:india|address|postal|city|district|state|deliver\w*|pin ?codes?)\b)"
)
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
# Words that no such list of words holds, and that no sentence of twelve words goes without.
_NOT_IN_SEEDS = frozenset(
    """
    the and are was has had but for not our his her its been were which their would could from
    und der die das nicht ein eine auf mit den von ist
    """.split()  # noqa: SIM905 (a list of words reads better as one)
)


def _password(text: str) -> bool:
    return stated("password", text)


def _wifi(text: str) -> bool:
    if compiled(_WIFI_CODE).search(text) or stated("wifi", text):
        return True
    near = _WIFI_NEAR.search(text)
    if not near:
        return False
    return stated(
        "password", text[max(0, near.start() - _NEAR_CHARS) : near.end() + 2 * _NEAR_CHARS]
    )


def _pin(text: str) -> bool:
    if compiled(_DOOR_CODE).search(text):
        return True
    for rest, linked, before in after("pin", text):
        found = _DIGITS.match(rest.lstrip())
        if not found or (len(found[1]) < 4 and not linked):
            continue
        unit = rest.lstrip()[found.end() :].split(maxsplit=1)
        if unit and unit[0].lower().rstrip(".,") in words().units:
            continue
        if len(found[1]) == 6 and _POSTAL.search(text) and "code" in before[-5:].lower():
            continue  # where letters are delivered in India
        if linked or before.endswith("PIN") or not _VAGUE.search(before) or _OWNED.search(before):
            return True
    return False


def _card_code(text: str) -> bool:
    for rest, _, _ in after("card_code", text):
        found = _DIGITS.match(rest.lstrip())
        if found and len(found[1]) in (3, 4):
            return True
    return False


def _one_time(text: str) -> bool:
    if any(compiled(one).search(text) for one in (_SENT_CODE, _CODE_TO_ENTER, _TAN)):
        return True
    for rest, linked, before in after("one_time", text):
        code = _CODE.match(rest.lstrip())
        if code and (linked or len(code[1]) >= _BARE_CODE_MIN_DIGITS):
            return True
        found = _BACKUP_CODE.match(rest.lstrip())
        if found and linked and any(char.isdigit() for char in found[1]) and _keeps(before):
            return True
    return False


def _keeps(before: str) -> bool:
    return (
        re.search(r"(?:recovery|backup|wiederherstellungs)[ -]?codes?\Z", before.lower())
        is not None
    )


def _seed(text: str) -> bool:
    if not words().labels["seed"].search(text):
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


def _labelled(text: str) -> bool:
    for rest, linked, before in after("secret", text):
        found = _TOKEN.match(rest.lstrip())
        if not found or placeholder(found[1]):
            continue
        value = found[1].rstrip(".:")
        if not random(value) and not (linked and _long_mix(value)):
            continue
        if not _NO_SECRET_BEFORE.search(before):
            return True
    return any(_bare_key(*one) for one in after("key", text))


def _bare_key(rest: str, linked: bool, before: str) -> bool:
    """'Key' alone names many things: only a long value that is no hash and no id counts."""
    found = _TOKEN.match(rest.lstrip())
    if not found or not linked:
        return False
    value = found[1].rstrip(".:")
    if len(value) < _KEY_MIN_CHARS or not random(value) or _HEX_OR_UUID.match(value):
        return False
    return not _NO_SECRET_BEFORE.search(before)


def _long_mix(value: str) -> bool:
    if not _DIGIT.search(value):
        return False  # most of them: to take it apart costs more
    parts = re.split(r"[^A-Za-z0-9]", value)
    return any(
        len(part) >= _SECRET_MIN_CHARS and not part.isalpha() and not part.isdigit()
        for part in parts
    )


def _login(text: str) -> bool:
    for rest, linked, _ in after("login", text):
        found = _PAIR.match(rest)
        if not found or not linked or placeholder(found[2]):
            continue
        value = found[2].rstrip(".,;)")
        if len(value) >= 6 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
            return True
    return False


STATED = (
    SecretKind(
        name="seed_phrase",
        says="The words that open a crypto wallet.",
        hints=("seed", "phrase", "mnemonic", "words", "wörter"),
        found=_seed,
    ),
    SecretKind(
        name="wifi_password",
        says="The password of a wireless network.",
        hints=(
            "wifi",
            "wi-fi",
            "wi fi",
            "wlan",
            "wpa",
            "network",
            "netzwerk",
            "wireless",
            "hotspot",
            "router",
            "ssid",
        ),
        found=_wifi,
    ),
    SecretKind(
        name="card_security_code",
        says="The security code of a payment card.",
        hints=("cv", "card", "karte"),
        found=_card_code,
    ),
    SecretKind(
        name="one_time_code",
        says="A code for logging in, or one for when the phone is lost.",
        hints=("code", "otp", "tan", "one", "einmal", "pin"),
        found=_one_time,
    ),
    SecretKind(
        name="pin_code",
        says="A PIN, or the code of a door or a safe.",
        hints=("pin", "code", "combination", "kombination", "geheimzahl"),
        found=_pin,
    ),
    SecretKind(
        name="stated_password",
        says="A password in words.",
        hints=(
            "pass",
            "pw",
            "kennwort",
            "losungswort",
            "contrase",
            "senha",
            "wachtwoord",
            "has\u0142o",
            "l\u00f6senord",
            "adgangskode",
            "salasana",
            "heslo",
            "jelsz",
            "\u015fifre",
            "\u043f\u0430\u0440\u043e\u043b\u044c",
        ),
        found=_password,
    ),
    SecretKind(
        name="login_pair",
        says="A login with its password.",
        hints=("login", "cred", "zugangsdaten", "anmeldedaten", "user"),
        found=_login,
    ),
    SecretKind(
        name="labelled_secret",
        says="A value that is called a secret, token or key.",
        hints=("secret", "token", "key", "schl", "geheim"),
        found=_labelled,
    ),
)
