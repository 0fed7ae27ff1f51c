"""Secrets told by where they stand: key files, addresses, headers, cookies, lines of settings."""

from __future__ import annotations

import base64
import binascii
import re

from tacit.screening.kind import START, SecretKind, placeholder, random, shaped

_TAKES_A_PASSWORD = (
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|sqlserver|oracle|clickhouse"
    r"|cockroachdb|cassandra|neo4j|bolt|nats|mqtts?|kafka|ldaps?|jdbc:[a-z0-9]{2,20})(?:\+[a-z0-9]{1,20})?"
)
_USERINFO = r"[^\s:/@?#\"'<>]{0,100}:([^\s/@?#\"'<>]{1,200}+)@[^\s/@]"
# The end of a line as people paste it: real, or escaped inside a string.
_WRAP = r"(?:\s|\\[nr]){0,8}"
_KEY_BODY = (
    rf"-{{4,5}}{_WRAP}(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset)[^\n\\]{{0,120}}{_WRAP}){{0,6}}"
    rf"(?:[A-Za-z0-9+/=]{_WRAP}){{16}}"
)
_VALUE = r"[\"'`]?([^\s\"'`;&,<>]{1,400}+)"
_SECRET_NAME = (
    r"(?:[A-Z0-9]{1,40}[_-]){0,6}(?:PASSWORD|PASSWD|PASSPHRASE|PWD|PASS|SECRET|TOKEN|CREDENTIALS?"
    r"|API_?KEY|APIKEY|PRIVATE_KEY|SECRET_KEY|ACCESS_KEY|AUTH_KEY|ENCRYPTION_KEY|SIGNING_KEY"
    r"|MASTER_KEY|LICENSE_KEY|ACCOUNT_KEY|JWT_KEY)(?:_(?:ID|BASE|HASH|SALT|1|2|OLD|NEW))?"
)
_SERVER = re.compile(
    r"(?i:server|data source|host|hostname|user id|uid|user|username|database|dbname|catalog"
    r"|dsn)\s?=|jdbc:"
)
_LOOK_BACK_CHARS = 160
_PATH = re.compile(r"[~./\\]|[A-Za-z]:\\|\d{1,6}\Z|https?://[^@]*\Z")
_READABLE_TYPE = re.compile(
    r"(?:str|int|bool|any|object|text|varchar|string|password|bytes|optional|required|char|field"
    r"|input|label|value|none|null|true|false|yes|no|on|off|enabled|disabled)\b",
    re.IGNORECASE,
)


def _given(match: re.Match[str]) -> bool:
    return not placeholder(match[match.lastindex or 0])


def _connects(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _LOOK_BACK_CHARS) : match.start()]
    return _given(match) and _SERVER.search(before.rpartition("\n")[2]) is not None


def _basic(match: re.Match[str]) -> bool:
    """A name and a password with a colon between, in base64."""
    value = match[1]
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        return ":" in plain.decode("utf-8")
    except (binascii.Error, ValueError):
        return False


def _bearer(match: re.Match[str]) -> bool:
    value = match[2]
    if placeholder(value):
        return False
    return random(value) or (match[1] is not None and any(char.isdigit() for char in value))


def _setting(match: re.Match[str]) -> bool:
    """A name in capitals may stand for a path, a number, or what is read from elsewhere."""
    value = match[1]
    if placeholder(value) or _PATH.match(value) or _READABLE_TYPE.match(value):
        return False
    return "(" not in value and len(value) >= 4


def _cookie(match: re.Match[str]) -> bool:
    value = match[match.lastindex or 0]
    return not placeholder(value) and len(value) >= 8 and any(char.isdigit() for char in value)


def _in_query(match: re.Match[str]) -> bool:
    value = match[1]
    return not placeholder(value) and (random(value) or (len(value) >= 12 and _mixed(value)))


def _mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


KEY_FILES = (
    shaped(
        "ssh_private_key",
        "A private key for SSH.",
        ("openssh", "ssh2", "putty-user-key-file", "private-lines"),
        rf"BEGIN{_WRAP}(?:OPENSSH|SSH2 ENCRYPTED){_WRAP}PRIVATE{_WRAP}KEY{_KEY_BODY}"
        rf"|PuTTY-User-Key-File-\d|Private-Lines:\s{{0,4}}\d",
    ),
    shaped(
        "pgp_private_key",
        "A private key of PGP.",
        ("pgp",),
        rf"BEGIN{_WRAP}PGP{_WRAP}PRIVATE{_WRAP}KEY{_WRAP}BLOCK{_KEY_BODY}",
    ),
    shaped(
        "private_key",
        "A private key in PEM form.",
        ("private",),
        rf"BEGIN{_WRAP}(?:[A-Z0-9]{{1,12}}{_WRAP}){{0,3}}PRIVATE{_WRAP}KEY{_KEY_BODY}",
    ),
)

ADDRESSES = (
    shaped(
        "database_url",
        "The address of a database or queue with its password.",
        ("://",),
        rf"(?i:{START}{_TAKES_A_PASSWORD}://){_USERINFO}",
        _given,
    ),
    shaped(
        "url_password",
        "An address with a name and a password in it.",
        ("://",),
        rf"{START}[A-Za-z][A-Za-z0-9+.-]{{1,20}}://{_USERINFO}",
        _given,
    ),
    shaped(
        "connection_string",
        "A connection string with its password.",
        ("password", "pwd"),
        rf"(?i:[;\s?&](?:password|pwd)\s?=)\s?{_VALUE}",
        _connects,
    ),
    shaped(
        "totp_secret",
        "The seed of an authenticator app.",
        ("otpauth", "totp", "authenticator"),
        r"(?i:otpauth://[^\s]{1,300}?[?&]secret=)([A-Za-z2-7]{8,})"
        r"|(?i:(?:totp|authenticator|2fa)[ _-](?:secret|seed|key)\s?(?:is|:|=)?\s?)"
        r"([A-Z2-7]{16,64})",
    ),
    shaped(
        "signed_url",
        "An address with a signature that opens what it names.",
        ("sig", "signature"),
        r"(?i:[?&](?:x-amz-signature|x-goog-signature|signature|sig|x-amz-security-token|hdnts)=)"
        r"([A-Za-z0-9%+/=_~-]{20,})",
        _given,
    ),
    shaped(
        "url_token",
        "An address with a token or key in it.",
        ("token=", "key=", "secret=", "auth=", "code=", "password=", "pwd=", "apikey="),
        r"(?i:[?&#](?:access_?token|auth_?token|id_token|refresh_token|token|api_?key|apikey|key|secret"
        r"|client_secret|auth|magic|reset_?token|invite_?token|password|pwd|code)=)([A-Za-z0-9%+/=_~.-]{6,})",
        _in_query,
    ),
)

HEADERS_AND_LINES = (
    shaped(
        "basic_authorization",
        "An authorization header with name and password.",
        ("basic",),
        r"(?i:basic)\s{1,4}([A-Za-z0-9+/]{6,}+={0,2})",
        _basic,
    ),
    shaped(
        "bearer_token",
        "An authorization header with its token.",
        ("bearer", "authorization", "x-api-key", "x-auth-token", "private-token"),
        r"(?i:(authorization|x-api-key|x-auth-token|private-token)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?:bearer\s{1,4}|token\s{1,4}|apikey\s{1,4})?|\bbearer\s{1,4})[\"']?([A-Za-z0-9_~+/.=-]{10,})",
        _bearer,
    ),
    shaped(
        "session_cookie",
        "A cookie or session id: whoever has it is logged in.",
        ("cookie", "sess", "connect.sid", "auth_token", ".aspxauth", "csrftoken"),
        r"(?i:(?:set-)?cookie\s?:\s?[^=\s;]{1,60}=)([^;\s]{1,400}+)"
        r"|(?i:(?:php|j|asp)?sess(?:ion)?[_-]?(?:id|token|key)|connect\.sid|\.aspxauth|auth_token|csrftoken)"
        r"\s?(?:=|:|\bis\b)\s?[\"']?([A-Za-z0-9%._+/=-]{8,400}+)",
        _cookie,
    ),
    shaped(
        "netrc_line",
        "A login with its password, as .netrc or .pgpass hold it.",
        ("machine", "login", ":5432:", ":3306:"),
        r"(?:machine\s{1,4}(?:\S{1,200}\.\S{1,200}|localhost)|default)\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(\S{1,200}+)"
        r"|^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,60}:[\w.-]{1,60}:(\S{1,200}+)$",
        _given,
    ),
    shaped(
        "env_line",
        "A line of settings that holds a password, token or key.",
        ("pass", "pwd", "secret", "token", "credential", "key"),
        rf"(?<![A-Za-z0-9_]){_SECRET_NAME}[\"']?\s?[=:]\s?{_VALUE}",
        _setting,
    ),
    shaped(
        "settings_line",
        "A quoted password, token or key of a settings file.",
        ("pass", "pwd", "secret", "token", "credential", "key"),
        r"(?<![A-Za-z0-9_])(?:[a-z0-9]{1,30}[_-]){0,4}(?:client_secret|secret_key|api_?key|access_key|auth_token"
        r"|access_token|refresh_token|private_key|password|passwd|pwd|secret)[\"']?\s?[=:]\s?"
        r"[\"']([^\s\"'`<>]{4,400}+)[\"']",
        _setting,
    ),
    shaped(
        "command_password",
        "A command with a password in it.",
        ("curl", "wget", "mysql", "sshpass", "--password", "mongo", "psql"),
        r"\bcurl\s[^\n]{0,200}?(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,60}:([^\s\"']{3,100}+)"
        r"|\b(?:mysql|mysqldump|mysqladmin)\s[^\n]{0,100}?-p([^\s-][^\s]{2,100}+)"
        r"|\bsshpass\s-p\s?([^\s-][^\s]{2,100}+)"
        r"|\s--password[ =][\"']?([^\s\"'-][^\s\"']{2,100}+)",
        _given,
    ),
    shaped(
        "password_hash",
        "The hash of a password.",
        ("$2", "$5$", "$6$", "$y$", "$argon2", "$1$"),
        r"\$2[abxy]\$\d\d\$[A-Za-z0-9./]{53}|\$[156y]\$[^\s$]{1,40}\$(?:[^\s$]{1,20}\$)?[A-Za-z0-9./]{22,}"
        r"|\$argon2(?:id|i|d)\$[^\s$]{1,20}\$[^\s$]{1,60}\$[A-Za-z0-9+/]{11,}",
    ),
)

PLACES: tuple[SecretKind, ...] = (*KEY_FILES, *ADDRESSES, *HEADERS_AND_LINES)
