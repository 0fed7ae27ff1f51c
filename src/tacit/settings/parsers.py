"""Parse the text of one setting. File and environment alike give text: `space: no` is "no".

A parser takes the key and the text, and raises InvalidInput. Messages repeat a value only if it
cannot be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from ipaddress import IPv6Address
from typing import Literal

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.http import not_an_address, parse_base_url
from tacit.identity import parse_external_key
from tacit.records import validation

Parse = Callable[[str, str], object]

# A word that may be a misspelled name of ours. URLs with passwords are longer than that, and API
# keys have digits.
SAFE_WORD = re.compile(r"(?:[^\W\d]|[.<-]){1,30}")
URL = re.compile(r"[A-Za-z0-9+.-]+:/")
PERIOD_RANGE = f"`{limits.JOBS_EVERY_MIN_SECONDS // 60}m` to `{limits.JOBS_EVERY_MAX_SECONDS // 3_600}h`"

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_INTEGER = re.compile(r"[0-9]{1,12}")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12}")
_DURATION = re.compile(r"(?=.)(?:([0-9]{1,5})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,5})s)?")
_LOCALE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}")
_CATEGORY = re.compile(r"[a-z][a-z0-9_-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Capitals with _ between them: few secrets look like that.
_CONVENTIONAL_VARIABLE = re.compile(r"[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,16}){1,7}")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_ORIGIN = re.compile(r"https?://(\[[^/?#@\]]*\]|[^/?#@:\[\]]*)(?::[0-9]{1,5})?")


def settings_error(where: object, *parts: str) -> SettingsError:
    message = ": ".join(part for part in (str(where), *parts) if part)
    # A file name may hold bytes that are not UTF-8.
    return SettingsError(message.encode("utf-8", "replace").decode())


def os_error_reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "its name cannot be used"


def suggest_name(written: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(written, list(known), 1)
    return f"did you mean {near[0]}?" if near else "docs/settings.md lists them all"


def quote_if_safe(value: str) -> str:
    return repr(value) if SAFE_WORD.fullmatch(value) else "that"


def one_of(*words: str) -> Parse:
    def parse(key: str, value: str) -> str:
        if value not in words:
            raise InvalidInput(key, f"{quote_if_safe(value)} is not one of {', '.join(words)}")
        return value

    return parse


def integer(low: int, high: int) -> Parse:
    def parse(key: str, value: str) -> int:
        if not _INTEGER.fullmatch(value) or not low <= int(value) <= high:
            raise InvalidInput(key, f"must be a whole number from {low} to {high}, in digits")
        return int(value)

    return parse


def number(low: float, high: float) -> Parse:
    def parse(key: str, value: str) -> float:
        if not _NUMBER.fullmatch(value) or not low <= float(value) <= high:
            problem = f"must be a number from {format_number(low)} to {format_number(high)}"
            raise InvalidInput(key, f"{problem}, such as {'0.5' if high == 1 else '10 or 0.5'}")
        return float(value)

    return parse


def format_number(value: float) -> str:
    return repr(value).removesuffix(".0")


def optional(parse: Parse) -> Parse:
    """Accept empty text as None."""
    return lambda key, value: parse(key, value) if value else None


def flag(key: str, value: str) -> bool:
    if value.lower() not in _TRUE | _FALSE:
        raise InvalidInput(key, f"{quote_if_safe(value)} is neither true nor false")
    return value.lower() in _TRUE


def always_true(why: str) -> Parse:
    def parse(key: str, value: str) -> Literal[True]:
        if not flag(key, value):
            raise InvalidInput(key, f"must stay true: {why}; remove this key")
        return True

    return parse


def duration(key: str, value: str) -> timedelta:
    match = _DURATION.fullmatch(value)
    if match is None:
        raise InvalidInput(key, "is not a duration; write for example 0s, 30m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def period(key: str, value: str) -> timedelta | None:
    """Parse an interval, or `off`."""
    if value == "off":
        return None
    found = duration(key, value)
    if not limits.JOBS_EVERY_MIN_SECONDS <= found.total_seconds() <= limits.JOBS_EVERY_MAX_SECONDS:
        allowed = PERIOD_RANGE.replace("`", "")
        raise InvalidInput(key, f"must be {allowed}, or off; write for example 30m or 24h")
    return found


def space(key: str, value: str) -> str:
    del key  # `parse_space` names its own
    return validation.parse_space(value)


def optional_external_key(key: str, value: str) -> str | None:
    return parse_external_key(value, key) if value else None


def category(key: str, value: str) -> str:
    name = validation.parse_identifier(key, value, limits.CATEGORY_MAX_CHARS)
    if not _CATEGORY.fullmatch(name):
        raise InvalidInput(key, "a category is lower-case letters, digits, - and _; rename it")
    return name


def label(key: str, value: str) -> str:
    return validation.parse_label(key, value) if value else ""


def locale(key: str, value: str) -> str:
    if value != "auto" and not _LOCALE.fullmatch(value):
        problem = "is neither auto nor a language, as in en or de"
        raise InvalidInput(key, f"{quote_if_safe(value)} {problem}")
    return value


def instructions(key: str, value: str) -> str:
    return validation.check_storable(key, value, limits.CHAT_INSTRUCTIONS_MAX_CHARS)


# Paths, addresses and secrets. None of these values is repeated in a message.


def dsn(key: str, value: str) -> str:
    return validation.check_storable(key, value, limits.DSN_MAX_CHARS)


def path(key: str, value: str) -> str:
    """Return the path as written: `bootstrap` resolves it."""
    if URL.match(value):
        raise InvalidInput(key, "is a URL; download the file and write the path of your copy")
    return validation.check_storable(key, value, limits.DSN_MAX_CHARS)


def address(secret_key: str, example: str = "https://host/v1") -> Parse:
    """Parse the URL of an HTTP endpoint, or nothing. Secrets belong under `secret_key`."""

    def parse(key: str, value: str) -> str:
        if value and " " not in value:
            parse_base_url(key, value, key_setting=secret_key, example=example)
        if set(" ?#") & set(value):  # also an empty query or fragment
            raise InvalidInput(key, not_an_address(example))
        return value

    return parse


def api_key(key: str, value: str) -> str:
    """Parse a key that goes into a header, so that it cannot end the line."""
    if value and not _is_one_word(value):
        raise InvalidInput(key, "holds spaces or characters that no key has; copy it again")
    if len(value) > limits.ENDPOINT_KEY_MAX_CHARS:
        problem = f"is longer than {limits.ENDPOINT_KEY_MAX_CHARS:,} characters; copy it again"
        raise InvalidInput(key, problem)
    return value


def variable_name(key: str, value: str) -> str:
    """Parse the name of the variable that holds a secret. People write the secret itself here."""
    if value and (not _VARIABLE.fullmatch(value) or len(value) > limits.LABEL_MAX_CHARS):
        problem = "is not the name of a variable; put the key into an environment variable"
        raise InvalidInput(key, f"{problem}, and its name here, as in OPENAI_API_KEY")
    if value.startswith("TACIT_"):
        raise InvalidInput(key, "names one of Tacit's own variables; use a name without the prefix TACIT_")
    return value


def required_variable_name(key: str, value: str) -> str:
    if not value:
        raise InvalidInput(key, "is empty; write the name of an environment variable")
    return variable_name(key, value)


def describe_variable(key: str, name: str) -> str:
    """Describe a variable to the operator, without its name if that may be a secret."""
    conventional = _CONVENTIONAL_VARIABLE.fullmatch(name)
    return name if conventional else f"the variable that {key} names"


def _is_one_word(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value


# Hosts, origins and chats.


def host(key: str, value: str) -> str:
    """Parse a host to listen on: a name or an address, without a port."""
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    if not _HOST.fullmatch(value) and not _is_ipv6(bare):
        raise InvalidInput(key, "is not a host; write a name or an address, as in 127.0.0.1")
    return bare.lower()


def allowed_host(key: str, value: str) -> str:
    """Parse a host as in a Host header, without its port."""
    if not _is_header_host(value):
        fix = "write a name without scheme, port and wildcard, as in memory.example.org"
        raise InvalidInput(key, f"is not a host; {fix}")
    return value.lower()


def origin(key: str, value: str) -> str:
    """Parse an origin as a browser sends it: scheme, host and optional port."""
    found = _ORIGIN.fullmatch(value)
    if found is None or not _is_header_host(found[1]):
        raise InvalidInput(key, "is not an origin; write it as in https://app.example.org")
    return value.lower()


def console_url(key: str, value: str) -> str:
    """Parse scheme and host: the pages cannot be served below a path."""
    try:
        return origin(key, value.removesuffix("/")) if value else ""
    except InvalidInput:
        fix = "write it as in https://memory.example.org, with nothing after the host"
        raise InvalidInput(key, f"is not the address of a server; {fix}") from None


def _is_header_host(value: str) -> bool:
    if value.startswith("[") and value.endswith("]"):
        return _is_ipv6(value[1:-1])
    return _HOST.fullmatch(value) is not None


def _is_ipv6(value: str) -> bool:
    try:
        IPv6Address(value)
    except ValueError:
        return False
    return True


def _chat_parser(channel: str, form: str, example: str) -> Parse:
    """Parse a chat as `/id` prints it, with or without the channel in front."""
    shape = re.compile(form)

    def parse(key: str, value: str) -> str:
        own = value.removeprefix(f"{channel}:")
        if not shape.fullmatch(own):
            fix = f"write what /id prints there, as in {channel}:{example}"
            raise InvalidInput(key, f"is not a chat; {fix}")
        return f"{channel}:{own}"

    return parse


telegram_chat = _chat_parser("telegram", r"-?[1-9][0-9]{0,18}", "-1001234567890")
slack_chat = _chat_parser("slack", r"[A-Z0-9]{1,64}:[A-Z0-9]{1,64}", "T0123456789:C0123456789")
