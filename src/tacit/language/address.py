"""Where a model is asked, and with which key: checked before anything is built from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from tacit import limits
from tacit.errors import InvalidInput

Provider = Literal["openai", "anthropic"]
_HOME = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
# What people paste; the library adds it again.
_ENDINGS = {"openai": ("/chat/completions",), "anthropic": ("/v1/messages", "/v1")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The key is kept out of `repr`, and goes to this address alone."""

    provider: Provider
    url: str
    key: str | None = field(repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def is_home(self) -> bool:
        """The provider's own API, and not one that is compatible with it."""
        return self.url == _HOME[self.provider]


def address(provider: Provider, base_url: str | None, key: str | None) -> Address:
    url = _url(provider, base_url) if base_url else _HOME[provider]
    if url == _HOME[provider] and not key:
        raise InvalidInput(
            "language.api_key_env",
            f"is needed for {_HOME[provider]}: name the variable that holds the key, or set "
            "language.base_url to a server of your own",
        )
    return Address(provider=provider, url=url, key=_key(key))


def _url(provider: Provider, base_url: str) -> str:
    problem = "is not an address; write it like https://host/v1, with nothing after the path"
    bad = InvalidInput("language.base_url", problem)
    url = base_url.strip()
    if not url.isascii() or not url.isprintable() or len(url) > limits.ENDPOINT_URL_MAX_CHARS:
        raise bad
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise bad from None
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "language.base_url", "holds a user name or password; use language.api_key_env instead"
        )
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise bad
    path = parts.path.rstrip("/")
    for ending in _ENDINGS[provider]:
        path = path.removesuffix(ending)
    if provider == "openai" and not path:
        path = "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _key(key: str | None) -> str | None:
    """Checked here, because a library would quote a bad one in its error."""
    if not key:
        return None
    if len(key) > limits.ENDPOINT_KEY_MAX_CHARS or not (
        key.isascii() and key.isprintable() and " " not in key
    ):
        raise InvalidInput(
            "language.api_key_env",
            "names a variable that holds characters that no key has, or too many: copy it again",
        )
    return key
