"""Kinds of secrets known by their shape: provider keys, key files, URLs, headers."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# What a kind of secret is, and the questions that tell a secret from what only looks like one.

# The ASCII letters and digits: other scripts are written without spaces around what they quote.
WORD_START = r"(?<![A-Za-z0-9_])"
WORD_END = r"(?![A-Za-z0-9_])"

_PLACEHOLDER = re.compile(
    r"[\"'`]*(?:[<{\[(%$…]|[*xX•·#?._\-0]+[\"'`.,;)]*$|(?:process\.)?env\b|[A-Za-z_.]{1,60}[(\[]"
    r"|(?:your|my|the|some|insert|enter|replace|example|sample|dummy|fake|placeholder|redacted"
    r"|removed|hidden|todo|tbd|none|null|nil|undefined|true|false|string|str|text|n/?a|unknown"
    r"|empty|optional|required|secret|token|password|dein|deine|mein|leer|geheim)"
    r"(?:[\"'`\s_.,;)\]\-]|$))",
    re.IGNORECASE,
)
_LONG_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{32,}\Z", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")
_REPEATED = re.compile(r"[xX]{4}|(.)\1{9}")
_RANDOM_MIN_CHARS = 16
_RANDOM_MIN_DISTINCT = 8
_TURNS_MIN_SHARE = 0.2
_TOKEN_MIN_DISTINCT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKind:
    name: str
    says: str  # one sentence for people
    hints: tuple[str, ...]  # in lower case; a text without any of them is not looked at further
    found: Callable[[str], bool]


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def pattern_kind(
    name: str,
    says: str,
    hints: tuple[str, ...],
    pattern: str,
    holds: Callable[[re.Match[str]], bool] | None = None,
) -> SecretKind:
    """A kind that is told by its shape, and by one more question where the shape is not enough."""

    def found(text: str) -> bool:
        matches = compile_pattern(pattern).finditer(text)
        return any(holds is None or holds(match) for match in matches)

    return SecretKind(name=name, says=says, hints=hints, found=found)


def is_varied(match: re.Match[str]) -> bool:
    """Not a row of x or 0, as in instructions on where to put a key."""
    body = match[match.lastindex or 0]
    return len(set(body.lower())) >= _TOKEN_MIN_DISTINCT and not _REPEATED.search(body)


def is_random(value: str) -> bool:
    """Letters and digits in turns, as no word or name has them, or hex as long as a key."""
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
    """Masked, empty, or a name for the value that goes there."""
    return not value or _PLACEHOLDER.match(value) is not None


# Secrets that a provider gives a shape of their own: keys of clouds, hosts, chats, payments.


def _is_no_name(match: re.Match[str]) -> bool:
    """sk-folding-cube-container is a name in a style sheet."""
    parts = re.split("[-_]", match[1])
    return is_varied(match) and (
        is_random(match[1]) or any(_is_long_with_digits(one) for one in parts)
    )


def _is_long_with_digits(part: str) -> bool:
    return len(part) >= 16 and not part.isalpha()


def _is_discord_token(match: re.Match[str]) -> bool:
    """The first part is the bot's number in base64."""
    part = match[1]
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False


CLOUD_KINDS = (
    pattern_kind(
        "aws_access_key_id",
        "An access key id of Amazon Web Services.",
        ("akia", "asia", "abia", "acca"),
        rf"{WORD_START}(?:AKIA|ASIA|ABIA|ACCA)([A-Z0-9]{{16}}){WORD_END}",
        is_varied,
    ),
    pattern_kind(
        "aws_secret_key",
        "A secret access key of Amazon Web Services.",
        ("aws", "secret"),
        r"(?i:aws.{0,40}|secret.?access.?key.{0,20})[^A-Za-z0-9/+]([A-Za-z0-9/+]{40})"
        r"(?![A-Za-z0-9/+=])",
        lambda match: is_varied(match) and is_random(match[1]) and not _is_hex(match[1]),
    ),
    pattern_kind(
        "google_api_key",
        "An API key of Google.",
        ("aiza",),
        r"(?<![A-Za-z0-9])AIza([A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])",
        is_varied,
    ),
    pattern_kind(
        "google_oauth_secret",
        "A client secret or access token of Google.",
        ("gocspx-", "ya29."),
        r"(?<![A-Za-z0-9])(?:GOCSPX-|ya29\.)([A-Za-z0-9_-]{24,})",
        is_varied,
    ),
    pattern_kind(
        "azure_storage_key",
        "An account or shared access key of Azure.",
        ("accountkey", "sharedaccesskey"),
        r"(?i:AccountKey|SharedAccessKey)\s*[=:]\s*([A-Za-z0-9+/]{40,88}={0,2})",
        is_varied,
    ),
    pattern_kind(
        "azure_client_secret",
        "A client secret of Azure.",
        ("q~",),
        r"(?<![A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])",
        is_varied,
    ),
    pattern_kind(
        "digitalocean_token",
        "A token of DigitalOcean.",
        ("_v1_",),
        rf"{WORD_START}do[oprt]_v1_([a-f0-9]{{64}}){WORD_END}",
        is_varied,
    ),
    pattern_kind(
        "cloud_token",
        "A key of a cloud or its tools (Vault, Databricks, Alibaba, Heroku, Terraform, Doppler).",
        ("hvs.", "hvb.", "dapi", "ltai", "hrku-", ".atlasv1.", "dp.pt.", "dp.st."),
        rf"{WORD_START}(?:hv[sb]\.[A-Za-z0-9_-]{{24,}}|dapi[a-f0-9]{{32}}{WORD_END}|LTAI[A-Za-z0-9]{{17,21}}{WORD_END}"
        rf"|HRKU-[A-Za-z0-9_-]{{30,}}|[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_-]{{60,}}"
        r"|dp\.[ps]t\.[A-Za-z0-9.]{40,})",
        is_varied,
    ),
)

CODE_HOST_KINDS = (
    pattern_kind(
        "github_token",
        "A token of GitHub.",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        rf"{WORD_START}(?:gh[pousr]_|github_pat_)([A-Za-z0-9_]{{22,}})",
        is_varied,
    ),
    pattern_kind(
        "gitlab_token",
        "A token of GitLab.",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-"),
        rf"{WORD_START}gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas)-([A-Za-z0-9_-]{{20,}})",
        is_varied,
    ),
    pattern_kind(
        "atlassian_token",
        "A token of Atlassian or Bitbucket.",
        ("atatt3", "atbb"),
        rf"{WORD_START}(?:ATATT3[A-Za-z0-9_=-]{{40,}}|ATBB[A-Za-z0-9]{{32}})",
        is_varied,
    ),
    pattern_kind(
        "npm_token",
        "A token of npm.",
        ("npm_",),
        rf"{WORD_START}npm_([A-Za-z0-9]{{36}}){WORD_END}",
        is_varied,
    ),
    pattern_kind(
        "pypi_token",
        "A token of PyPI.",
        ("pypi-ag",),
        rf"{WORD_START}pypi-Ag([A-Za-z0-9_-]{{50,}})",
        is_varied,
    ),
    pattern_kind(
        "registry_token",
        "A token of a package or image registry (Docker, RubyGems, NuGet).",
        ("dckr_", "rubygems_", "oy2"),
        rf"{WORD_START}(?:dckr_[a-z]{{3}}_[A-Za-z0-9_-]{{27,}}|rubygems_[a-f0-9]{{48}}{WORD_END}"
        rf"|oy2[a-z0-9]{{43}}{WORD_END})",
        is_varied,
    ),
)

CHAT_KINDS = (
    pattern_kind(
        "slack_token",
        "A token of Slack.",
        ("xox", "xapp-"),
        rf"{WORD_START}(?:xox[abceoprs]|xapp)-([A-Za-z0-9-]{{20,}})",
        is_varied,
    ),
    pattern_kind(
        "chat_webhook",
        "The address of a chat webhook: whoever has it can post there.",
        ("hooks.slack.com", "/api/webhooks/", "webhook.office.com"),
        r"hooks\.slack\.com/(?:services|workflows)/T[A-Za-z0-9]{6,}/[A-Za-z0-9/]{18,}"
        r"|discord(?:app)?\.com/api/webhooks/\d{15,20}/[A-Za-z0-9_-]{40,}"
        r"|webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[A-Za-z0-9/@-]{40,}",
        is_varied,
    ),
    pattern_kind(
        "discord_token",
        "A token of a Discord bot.",
        (".",),
        r"(?<![A-Za-z0-9_.-])([MNO][A-Za-z0-9_-]{22,27})\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"
        r"(?![A-Za-z0-9_-])",
        _is_discord_token,
    ),
    pattern_kind(
        "telegram_bot_token",
        "A token of a Telegram bot.",
        (":a",),
        r"(?<!\d)\d{8,10}:(A[A-Za-z0-9_-]{34})(?![A-Za-z0-9_-])",
        is_varied,
    ),
)

PAYMENT_AND_MAIL_KINDS = (
    pattern_kind(
        "stripe_key",
        "A secret key of Stripe.",
        ("k_live_", "k_test_", "whsec_"),
        rf"{WORD_START}(?:[sr]k_(?:live|test)_|whsec_)([A-Za-z0-9+/]{{16,}})",
        is_varied,
    ),
    pattern_kind(
        "payment_provider_key",
        "A key of a payment or shop provider (Square, Shopify, PayPal).",
        ("sq0", "shpat_", "shpca_", "shppa_", "shpss_", "access_token$production$"),
        rf"{WORD_START}(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{{22,43}}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}{WORD_END}"
        r"|access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32})",
        is_varied,
    ),
    pattern_kind(
        "twilio_key",
        "A key or auth token of Twilio.",
        ("sk", "twilio"),
        rf"{WORD_START}SK([0-9a-f]{{32}}){WORD_END}"
        rf"|(?i:twilio.{{0,20}}(?:auth|token|secret|key).{{0,15}}){WORD_START}([0-9a-f]{{32}}){WORD_END}",
        is_varied,
    ),
    pattern_kind(
        "sendgrid_key",
        "A key of SendGrid.",
        ("sg.",),
        rf"{WORD_START}SG\.([A-Za-z0-9_-]{{22}}\.[A-Za-z0-9_-]{{43}})(?![A-Za-z0-9_-])",
        is_varied,
    ),
    pattern_kind(
        "mail_provider_key",
        "A key of a mail provider (Mailgun, Mailchimp, Brevo).",
        ("key-", "-us", "xkeysib-"),
        rf"{WORD_START}(?:key-[0-9a-f]{{32}}{WORD_END}|[0-9a-f]{{32}}-us\d{{1,2}}{WORD_END}"
        r"|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16})",
        is_varied,
    ),
)

MODEL_AND_TOOL_KINDS = (
    pattern_kind(
        "tacit_key",
        "A key to a memory like this one, or what signs somebody in there.",
        ("tct_", "tcl_", "tcs_"),
        rf"{WORD_START}tc[tls]_[A-Za-z0-9]{{12}}_([A-Za-z0-9_-]{{43}})",
        is_varied,
    ),
    pattern_kind(
        "anthropic_key",
        "An API key of Anthropic.",
        ("sk-ant-",),
        rf"{WORD_START}sk-ant-([A-Za-z0-9_-]{{20,}})",
        is_varied,
    ),
    pattern_kind(
        "openai_key",
        "An API key of OpenAI, or of a provider that writes keys like it.",
        ("sk-",),
        rf"{WORD_START}sk-((?!ant-)[A-Za-z0-9_-]{{20,}})",
        _is_no_name,
    ),
    pattern_kind(
        "huggingface_token",
        "A token of Hugging Face.",
        ("hf_", "api_org_"),
        rf"{WORD_START}(?:hf_|api_org_)([A-Za-z0-9]{{34,40}}){WORD_END}",
        is_varied,
    ),
    pattern_kind(
        "model_provider_key",
        "A key of a provider of language models (Groq, Replicate, Perplexity, xAI).",
        ("gsk_", "r8_", "pplx-", "xai-"),
        rf"{WORD_START}(?:gsk_[A-Za-z0-9]{{40,}}|r8_[A-Za-z0-9]{{37}}{WORD_END}|pplx-[A-Za-z0-9]{{40,}}"
        r"|xai-[A-Za-z0-9]{60,})",
        is_varied,
    ),
    pattern_kind(
        "tool_token",
        "A token of a tool for work (Notion, Linear, Figma, Postman, Grafana, New Relic, Sentry).",
        ("ntn_", "lin_api_", "figd_", "pmak-", "glsa_", "nrak-", "sntrys_", "sntryu_"),
        rf"{WORD_START}(?:ntn_[A-Za-z0-9]{{40,}}|lin_api_[A-Za-z0-9]{{32,}}|figd_[A-Za-z0-9_-]{{30,}}"
        r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"
        r"|NRAK-[A-Z0-9]{27}|sntry[su]_[A-Za-z0-9+/=_-]{40,})",
        is_varied,
    ),
)


def _is_hex(value: str) -> bool:
    return all(char in "0123456789abcdefABCDEF" for char in value)


TOKEN_KINDS: tuple[SecretKind, ...] = (
    *CLOUD_KINDS,
    *CODE_HOST_KINDS,
    *CHAT_KINDS,
    *PAYMENT_AND_MAIL_KINDS,
    *MODEL_AND_TOOL_KINDS,
)


# Secrets that carry a proof of what they are: web tokens and the private keys of wallets.

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WIF_BYTES = (37, 38)  # 0x80, the key, a mark for compressed keys, the checksum


def _is_jwt(match: re.Match[str]) -> bool:
    part = match[1]
    try:
        head = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        return False
    return b'"alg"' in head or b'"enc"' in head


def _is_wallet_key(match: re.Match[str]) -> bool:
    """A key for a wallet carries a checksum; fifty letters of something else do not."""
    number = 0
    for char in match[0]:
        number = number * 58 + _BASE58.index(char)
    size = (number.bit_length() + 7) // 8
    if size not in _WIF_BYTES:
        return False
    raw = number.to_bytes(size, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


SIGNED_KINDS = (
    pattern_kind(
        "jwt",
        "A JSON web token.",
        ("eyj",),
        r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{10,})\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{10,}",
        _is_jwt,
    ),
    pattern_kind(
        "wallet_private_key",
        "The private key of a crypto wallet.",
        ("5", "k", "l"),
        rf"{WORD_START}[5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}{WORD_END}",
        _is_wallet_key,
    ),
    pattern_kind(
        "extended_private_key",
        "A private key from which others are made (a wallet's xprv, an age identity).",
        ("prv", "age-secret-key-1"),
        rf"{WORD_START}(?:[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{{100,112}}"
        rf"|AGE-SECRET-KEY-1[A-Z0-9]{{58}}){WORD_END}",
        is_varied,
    ),
)


# Secrets told by where they stand: key files, addresses, headers, cookies, lines of settings.

_PASSWORD_SCHEME = (
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
_CONNECTION_LOOK_BACK_CHARS = 160
_PATH = re.compile(r"[~./\\]|[A-Za-z]:\\|\d{1,6}\Z|https?://[^@]*\Z")
_READABLE_TYPE = re.compile(
    r"(?:str|int|bool|any|object|text|varchar|string|password|bytes|optional|required|char|field"
    r"|input|label|value|none|null|true|false|yes|no|on|off|enabled|disabled)\b",
    re.IGNORECASE,
)


def _is_given(match: re.Match[str]) -> bool:
    return not is_placeholder(match[match.lastindex or 0])


def _is_connection_string(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _CONNECTION_LOOK_BACK_CHARS) : match.start()]
    return _is_given(match) and _SERVER.search(before.rpartition("\n")[2]) is not None


def _is_basic_auth(match: re.Match[str]) -> bool:
    """A name and a password with a colon between, in base64."""
    value = match[1]
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        return ":" in plain.decode("utf-8")
    except (binascii.Error, ValueError):
        return False


def _is_bearer_token(match: re.Match[str]) -> bool:
    value = match[2]
    if is_placeholder(value):
        return False
    return is_random(value) or (match[1] is not None and any(char.isdigit() for char in value))


def _is_setting(match: re.Match[str]) -> bool:
    """A name in capitals may stand for a path, a number, or what is read from elsewhere."""
    value = match[1]
    if is_placeholder(value) or _PATH.match(value) or _READABLE_TYPE.match(value):
        return False
    return "(" not in value and len(value) >= 4


def _is_cookie(match: re.Match[str]) -> bool:
    value = match[match.lastindex or 0]
    return not is_placeholder(value) and len(value) >= 8 and any(char.isdigit() for char in value)


def _is_query_token(match: re.Match[str]) -> bool:
    value = match[1]
    return not is_placeholder(value) and (
        is_random(value) or (len(value) >= 12 and _mixes_letters_and_digits(value))
    )


def _mixes_letters_and_digits(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


KEY_FILE_KINDS = (
    pattern_kind(
        "ssh_private_key",
        "A private key for SSH.",
        ("openssh", "ssh2", "putty-user-key-file", "private-lines"),
        rf"BEGIN{_WRAP}(?:OPENSSH|SSH2 ENCRYPTED){_WRAP}PRIVATE{_WRAP}KEY{_KEY_BODY}"
        rf"|PuTTY-User-Key-File-\d|Private-Lines:\s{{0,4}}\d",
    ),
    pattern_kind(
        "pgp_private_key",
        "A private key of PGP.",
        ("pgp",),
        rf"BEGIN{_WRAP}PGP{_WRAP}PRIVATE{_WRAP}KEY{_WRAP}BLOCK{_KEY_BODY}",
    ),
    pattern_kind(
        "private_key",
        "A private key in PEM form.",
        ("private",),
        rf"BEGIN{_WRAP}(?:[A-Z0-9]{{1,12}}{_WRAP}){{0,3}}PRIVATE{_WRAP}KEY{_KEY_BODY}",
    ),
)

URL_KINDS = (
    pattern_kind(
        "database_url",
        "The address of a database or queue with its password.",
        ("://",),
        rf"(?i:{WORD_START}{_PASSWORD_SCHEME}://){_USERINFO}",
        _is_given,
    ),
    pattern_kind(
        "url_password",
        "An address with a name and a password in it.",
        ("://",),
        rf"{WORD_START}[A-Za-z][A-Za-z0-9+.-]{{1,20}}://{_USERINFO}",
        _is_given,
    ),
    pattern_kind(
        "connection_string",
        "A connection string with its password.",
        ("password", "pwd"),
        rf"(?i:[;\s?&](?:password|pwd)\s?=)\s?{_VALUE}",
        _is_connection_string,
    ),
    pattern_kind(
        "totp_secret",
        "The seed of an authenticator app.",
        ("otpauth", "totp", "authenticator"),
        r"(?i:otpauth://[^\s]{1,300}?[?&]secret=)([A-Za-z2-7]{8,})"
        r"|(?i:(?:totp|authenticator|2fa)[ _-](?:secret|seed|key)\s?(?:is|:|=)?\s?)"
        r"([A-Z2-7]{16,64})",
    ),
    pattern_kind(
        "signed_url",
        "An address with a signature that opens what it names.",
        ("sig", "signature"),
        r"(?i:[?&](?:x-amz-signature|x-goog-signature|signature|sig|x-amz-security-token|hdnts)=)"
        r"([A-Za-z0-9%+/=_~-]{20,})",
        _is_given,
    ),
    pattern_kind(
        "url_token",
        "An address with a token or key in it.",
        ("token=", "key=", "secret=", "auth=", "code=", "password=", "pwd=", "apikey="),
        r"(?i:[?&#](?:access_?token|auth_?token|id_token|refresh_token|token|api_?key|apikey|key|secret"
        r"|client_secret|auth|magic|reset_?token|invite_?token|password|pwd|code)=)([A-Za-z0-9%+/=_~.-]{6,})",
        _is_query_token,
    ),
)

LINE_KINDS = (
    pattern_kind(
        "basic_authorization",
        "An authorization header with name and password.",
        ("basic",),
        r"(?i:basic)\s{1,4}([A-Za-z0-9+/]{6,}+={0,2})",
        _is_basic_auth,
    ),
    pattern_kind(
        "bearer_token",
        "An authorization header with its token.",
        ("bearer", "authorization", "x-api-key", "x-auth-token", "private-token"),
        r"(?i:(authorization|x-api-key|x-auth-token|private-token)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?:bearer\s{1,4}|token\s{1,4}|apikey\s{1,4})?|\bbearer\s{1,4})[\"']?([A-Za-z0-9_~+/.=-]{10,})",
        _is_bearer_token,
    ),
    pattern_kind(
        "session_cookie",
        "A cookie or session id: whoever has it is logged in.",
        ("cookie", "sess", "connect.sid", "auth_token", ".aspxauth", "csrftoken"),
        r"(?i:(?:set-)?cookie\s?:\s?[^=\s;]{1,60}=)([^;\s]{1,400}+)"
        r"|(?i:(?:php|j|asp)?sess(?:ion)?[_-]?(?:id|token|key)|connect\.sid|\.aspxauth|auth_token|csrftoken)"
        r"\s?(?:=|:|\bis\b)\s?[\"']?([A-Za-z0-9%._+/=-]{8,400}+)",
        _is_cookie,
    ),
    pattern_kind(
        "netrc_line",
        "A login with its password, as .netrc or .pgpass hold it.",
        ("machine", "login", ":5432:", ":3306:"),
        r"(?:machine\s{1,4}(?:\S{1,200}\.\S{1,200}|localhost)|default)\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(\S{1,200}+)"
        r"|^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,60}:[\w.-]{1,60}:(\S{1,200}+)$",
        _is_given,
    ),
    pattern_kind(
        "env_line",
        "A line of settings that holds a password, token or key.",
        ("pass", "pwd", "secret", "token", "credential", "key"),
        rf"(?<![A-Za-z0-9_]){_SECRET_NAME}[\"']?\s?[=:]\s?{_VALUE}",
        _is_setting,
    ),
    pattern_kind(
        "settings_line",
        "A quoted password, token or key of a settings file.",
        ("pass", "pwd", "secret", "token", "credential", "key"),
        r"(?<![A-Za-z0-9_])(?:[a-z0-9]{1,30}[_-]){0,4}(?:client_secret|secret_key|api_?key|access_key|auth_token"
        r"|access_token|refresh_token|private_key|password|passwd|pwd|secret)[\"']?\s?[=:]\s?"
        r"[\"']([^\s\"'`<>]{4,400}+)[\"']",
        _is_setting,
    ),
    pattern_kind(
        "command_password",
        "A command with a password in it.",
        ("curl", "wget", "mysql", "sshpass", "--password", "mongo", "psql"),
        r"\bcurl\s[^\n]{0,200}?(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,60}:([^\s\"']{3,100}+)"
        r"|\b(?:mysql|mysqldump|mysqladmin)\s[^\n]{0,100}?-p([^\s-][^\s]{2,100}+)"
        r"|\bsshpass\s-p\s?([^\s-][^\s]{2,100}+)"
        r"|\s--password[ =][\"']?([^\s\"'-][^\s\"']{2,100}+)",
        _is_given,
    ),
    pattern_kind(
        "password_hash",
        "The hash of a password.",
        ("$2", "$5$", "$6$", "$y$", "$argon2", "$1$"),
        r"\$2[abxy]\$\d\d\$[A-Za-z0-9./]{53}|\$[156y]\$[^\s$]{1,40}\$(?:[^\s$]{1,20}\$)?[A-Za-z0-9./]{22,}"
        r"|\$argon2(?:id|i|d)\$[^\s$]{1,20}\$[^\s$]{1,60}\$[A-Za-z0-9+/]{11,}",
    ),
)

CONTEXT_KINDS: tuple[SecretKind, ...] = (*KEY_FILE_KINDS, *URL_KINDS, *LINE_KINDS)
