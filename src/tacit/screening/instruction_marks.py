"""Marks of a prompt, tool calls, hidden characters, encoded text and links that carry data away."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache

_ROLES = r"(?:system|assistant|user|human|developer|tool|function|model|ai)"
_ROLE_MARK = (
    r"<\|\s?(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|begin_of_text|eot_id|eom_id"
    r"|start_header_id|end_header_id|start|message|channel|endofprompt)\s?\|>"
    r"|\[/?INST\]|<</?SYS>>|<start_of_turn>|<end_of_turn>|</?tacit.?memory"
    r"|</?(?:system|assistant|developer|instructions?|system[_-]prompt|system[_-]message|admin)\s?>"
    r"|(?m:^\s{0,4}#{1,4}\s{0,2}(?:system|(?:new )?instructions?|response|assistant)\s{0,2}:)"
    r"|\[(?:system|assistant|developer|admin)(?: (?:message|note|prompt|instruction))?\]\s?:?"
    r"|(?m:^[\s*_>\"'-]{0,6}(?:system|assistant|developer)"
    r"(?: (?:prompt|message|instructions?|note))?"
    r"[*_]{0,2}\s?:\s{0,3}[*_]{0,2}(?:you|your|ignore|disregard|forget|always|never|from now|do not"
    r"|don't|the user|new|override|remember|tell|answer|sure|of course|okay|i will|i'll|du|dein"
    r"|ignoriere|vergiss|immer|ab sofort|der nutzer|sag|antworte))"
    r"|(?m:^[\s*_>\"'-]{0,6}(?:system prompt|system message|systemprompt|new instructions?"
    r"|neue anweisung(?:en)?|important instructions? for (?:the )?(?:ai|assistant|llm|model|agent))"
    r"[*_]{0,2}\s?[:=])"
    r"|(?:note|message|instructions?|hinweis|anweisung(?:en)?) (?:to|for|an|für)"
    r" (?:the |any |all |die |den |das )?(?:ai|llm|llms|language model|assistant|chatbot|ki"
    r"|assistenten|sprachmodell)(?: assistant| agent| model)?s?\b\s?[:,-]"
)
_TURN = re.compile(rf"(?im)^[*_\s>]{{0,4}}({_ROLES})[*_]{{0,2}}\s?:")
_TOOL_CALL = (
    r"[\"'](?:tool_calls?|function_call|tool_use|tool_use_id|tool_call_id|recipient_name)[\"']\s{0,4}:"
    r"|[\"']type[\"']\s{0,4}:\s{0,4}[\"'](?:tool_use|tool_result|function|function_call|tool_call)[\"']"
    r"|[\"'](?:name|tool|function|action)[\"']\s{0,4}:\s{0,4}[\"'][\w.:-]{1,64}[\"']\s{0,4},\s{0,4}"
    r"[\"'](?:arguments|parameters|input|args|action_input|tool_input)[\"']\s{0,4}:"
    r"|[\"'](?:arguments|parameters|input|args)[\"']\s{0,4}:\s{0,4}\{[^{}]{0,400}\}\s{0,4},\s{0,4}"
    r"[\"'](?:name|tool|function)[\"']\s{0,4}:"
    r"|</?(?:tool_calls?|function_calls?|invoke|tool_code|tool_response|tool_result|function_results?)\b"
    r"|```(?:tool_code|tool_call|tool_outputs?)\b|\[TOOL_CALLS?\]"
)
_ENCODED = (
    r"\b(?:decode|decrypt|decipher|unscramble|dekodiere?|entschlüssle?|entschlüssele|entziffere)\b"
    r"[^\n]{0,80}?(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{24,}|(?:[0-9a-f]{2}[ :]?){12,})"
    r"|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,}+={0,2}[^\n]{0,40}?"
    r"\b(?:decode|decrypt|base64|dekodiere?|entschlüssle?)\b"
    r"|\b(?:base64|rot13|hex)\b[^\n]{0,40}\b(?:and|then|und|dann)\b[^\n]{0,20}\b(?:follow|execute|obey|run"
    r"|do what|befolge|führe|tu)\b"
    r"|\b(?:decode|dekodiere)\b[^\n]{0,60}\b(?:and|then|und|dann)\b[^\n]{0,20}\b(?:follow|execute|obey|run"
    r"|do what|befolge|führe|tu)\b"
)
_PLACEHOLDER = (
    r"(?:\{{1,2}[^\s{}]{1,60}\}|<[a-z_ ]{3,40}>|\[[A-Za-z_ ]{3,40}\]|%7B|\$\{"
    r"|(?-i:[A-Z]{3,20}_[A-Z_]{3,20}))"
)
_CARRIES = (
    r"(?:q|d|data|c|content|msg|message|text|leak|secret|secrets|conversation|history|memory|memories"
    r"|prompt|info|payload|exfil|log|chat|user_data|context|steal|stolen|password|key|token|summary)"
)
_LINK = (
    rf"!\[[^\]\n]{{0,200}}\]\(\s{{0,4}}<?https?://[^\s)]{{1,200}}?[?&]{_CARRIES}="
    rf"|!?\[[^\]\n]{{0,200}}\]\(\s{{0,4}}<?https?://[^\s)]{{1,200}}?{_PLACEHOLDER}"
    rf"|!\[[^\]\n]{{0,200}}\]\(\s{{0,4}}<?(?:data:text|javascript:)"
    rf"|<img\b[^>]{{0,200}}?src\s?=\s?[\"']?https?://[^\s\"'>]{{1,200}}?[?&]{_CARRIES}="
    rf"|https?://[^\s)\"'>]{{1,200}}?[?&][\w-]{{1,30}}={_PLACEHOLDER}"
    r"|(?m:^\s{0,4}\[[^\]\n]{1,100}\]:\s{0,4}https?://[^\s]{1,200}?[?&]" + _CARRIES + r"=)"
)
_HIDDEN_MARKUP = (
    r"<!--(?:(?!-->)[^\n]){0,80}\b(?:ai|llm|assistant|instructions?|system|prompt|ignore|agent|memory|model"
    r"|anweisung|ignoriere|ki)\b"
    r"|style\s?=\s?[\"'][^\"'>]{0,120}?(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?[01]"
    r"(?:px|pt|em)?\b|opacity\s?:\s?0\b|color\s?:\s?(?:white|transparent|#fff(?:fff)?)\b)"
)

# Zero-width characters that part nothing in Latin script; runs of what carries no letter at all.
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e"
_INSIDE_A_WORD = re.compile(f"(?<=[A-Za-z])[{_ZERO_WIDTH}]+(?=[A-Za-z])")
_SMUGGLED = re.compile(
    f"[{_ZERO_WIDTH}]{{3,}}|[\ufe00-\ufe0f]{{2,}}|[\U000e0100-\U000e01ef]{{2,}}|[\u202d\u202e]"
)
_TAG = re.compile("[\U000e0000-\U000e007f]")
# The flags of England, Scotland and Wales are spelt with tags.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")

_BLOB = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4000}+={0,2}")
_BLOBS_MAX_COUNT = 8


@cache
def _checks() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    """Reason, what a text must hold to be looked at, and the pattern."""
    ignoring_case = re.IGNORECASE
    return (
        (
            "role_marker",
            ("<", "[", ":", "=", "note ", "message ", "instruction", "hinweis ", "anweisung"),
            re.compile(_ROLE_MARK, ignoring_case),
        ),
        (
            "tool_call",
            ('"', "'", "<", "```", "["),
            re.compile(_TOOL_CALL, ignoring_case),
        ),
        (
            "exfiltration_link",
            ("http", "](data", "](javascript"),
            re.compile(_LINK, ignoring_case),
        ),
        ("hidden_text", ("<!--", "style"), re.compile(_HIDDEN_MARKUP, ignoring_case)),
        (
            "encoded_text",
            ("decode", "base64", "rot13", "hex", "decrypt", "decipher", "unscramble", "dekodier",
             "entschl", "entziffer"),
            re.compile(_ENCODED, ignoring_case),
        ),
    )  # fmt: skip


def marked(text: str) -> str | None:
    """The reason that marks and markup give; None where there are none."""
    lower = text.lower()
    for reason, hints, pattern in _checks():
        if any(hint in lower for hint in hints) and pattern.search(text):
            return reason
    return "role_marker" if _conversation(text) else None


def _conversation(text: str) -> bool:
    """A conversation that somebody wrote out, with the assistant's part in it."""
    turns = {turn[1].lower() for turn in _TURN.finditer(text)}
    return bool(turns & {"assistant", "ai", "model"}) and bool(turns & {"user", "human", "system"})


def hidden(text: str) -> bool:
    """Characters that a reader does not see, where no script and no emoji has a use for them."""
    if text.isascii():
        return False
    if _SMUGGLED.search(text) or _INSIDE_A_WORD.search(text):
        return True
    return _TAG.search(_FLAG.sub("", text)) is not None


def decoded(text: str) -> Iterator[str]:
    """What lies in base64 in a text, if it is text."""
    for count, blob in enumerate(_BLOB.finditer(text)):
        if count == _BLOBS_MAX_COUNT:
            return
        plain = blob[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            read = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if read.isprintable() or "\n" in read:
            yield read
