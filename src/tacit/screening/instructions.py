"""Detect text that instructs the assistant instead of stating a fact."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Literal

from tacit.text import list_readings

# Prompt markers, tool calls, hidden characters, encoded text and exfiltration links.

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
_DATA_PARAMETER = (
    r"(?:q|d|data|c|content|msg|message|text|leak|secret|secrets|conversation|history|memory|memories"
    r"|prompt|info|payload|exfil|log|chat|user_data|context|steal|stolen|password|key|token|summary)"
)
_LINK = (
    rf"!\[[^\]\n]{{0,200}}\]\(\s{{0,4}}<?https?://[^\s)]{{1,200}}?[?&]{_DATA_PARAMETER}="
    rf"|!?\[[^\]\n]{{0,200}}\]\(\s{{0,4}}<?https?://[^\s)]{{1,200}}?{_PLACEHOLDER}"
    rf"|!\[[^\]\n]{{0,200}}\]\(\s{{0,4}}<?(?:data:text|javascript:)"
    rf"|<img\b[^>]{{0,200}}?src\s?=\s?[\"']?https?://[^\s\"'>]{{1,200}}?[?&]{_DATA_PARAMETER}="
    rf"|https?://[^\s)\"'>]{{1,200}}?[?&][\w-]{{1,30}}={_PLACEHOLDER}"
    r"|(?m:^\s{0,4}\[[^\]\n]{1,100}\]:\s{0,4}https?://[^\s]{1,200}?[?&]" + _DATA_PARAMETER + r"=)"
)
_HIDDEN_MARKUP = (
    r"<!--(?:(?!-->)[^\n]){0,80}\b(?:ai|llm|assistant|instructions?|system|prompt|ignore|agent|memory|model"
    r"|anweisung|ignoriere|ki)\b"
    r"|style\s?=\s?[\"'][^\"'>]{0,120}?(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?[01]"
    r"(?:px|pt|em)?\b|opacity\s?:\s?0\b|color\s?:\s?(?:white|transparent|#fff(?:fff)?)\b)"
)

# Zero-width characters have no use in Latin script.
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e"
_ZERO_WIDTH_IN_WORD = re.compile(f"(?<=[A-Za-z])[{_ZERO_WIDTH}]+(?=[A-Za-z])")
_HIDDEN_RUN = re.compile(f"[{_ZERO_WIDTH}]{{3,}}|[\ufe00-\ufe0f]{{2,}}|[\U000e0100-\U000e01ef]{{2,}}|[\u202d\u202e]")
_TAG = re.compile("[\U000e0000-\U000e007f]")
# The flags of England, Scotland and Wales consist of tags.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")

_BLOB = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4000}+={0,2}")
_BLOBS_MAX_COUNT = 8


@cache
def _mark_checks() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    """Return reason, hints (a text without any of them is not searched) and pattern."""
    checks = (
        ("role_marker", _ROLE_MARK, "<|[|:|=|note |message |instruction|hinweis |anweisung"),
        ("tool_call", _TOOL_CALL, "\"|'|<|```|["),
        ("exfiltration_link", _LINK, "http|](data|](javascript"),
        ("hidden_text", _HIDDEN_MARKUP, "<!--|style"),
        ("encoded_text", _ENCODED, "decode|base64|rot13|hex|decrypt|decipher|unscramble|dekodier|entschl|entziffer"),
    )  # fmt: skip
    return tuple(
        (reason, tuple(hints.split("|")), re.compile(pattern, re.IGNORECASE)) for reason, pattern, hints in checks
    )


def find_mark(text: str) -> str | None:
    """Return the reason why markers or markup are suspect, or None."""
    lower = text.lower()
    for reason, hints, pattern in _mark_checks():
        if any(hint in lower for hint in hints) and pattern.search(text):
            return reason
    # A transcript that puts words into the assistant's mouth.
    roles = {turn[1].lower() for turn in _TURN.finditer(text)}
    if roles & {"assistant", "ai", "model"} and roles & {"user", "human", "system"}:
        return "role_marker"
    return None


def has_hidden_text(text: str) -> bool:
    """Whether the text has invisible characters that no script or emoji needs there."""
    if text.isascii():
        return False
    if _HIDDEN_RUN.search(text) or _ZERO_WIDTH_IN_WORD.search(text):
        return True
    return _TAG.search(_FLAG.sub("", text)) is not None


def decode_base64_parts(text: str) -> Iterator[str]:
    """Yield the parts of a text that are text in base64, decoded."""
    for count, blob in enumerate(_BLOB.finditer(text)):
        if count == _BLOBS_MAX_COUNT:
            return
        plain = blob[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if decoded.isprintable() or "\n" in decoded:
            yield decoded


# Phrases. instructions.yaml and orders.yaml explain the notation.

_REPEAT_MAX_WORDS = 4
_GAP_MAX_WORDS = 6
_END = "."
_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[.!?](?=\s|$)|\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseStep:
    """One element of a phrase: its words, and how it matches them."""

    words: frozenset[str]
    takes: Literal["one", "maybe", "many", "gap", "not", "not_behind", "no_number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    reason: str
    steps: tuple[PhraseStep, ...]
    none_before: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    by_first_word: Mapping[str, tuple[Phrase, ...]]
    noise: frozenset[str]  # ignored words: please, just
    reasons: tuple[str, ...]


def find_instruction(text: str) -> str | None:
    """Return the reason why a text is an instruction, or None for ordinary text."""
    if has_hidden_text(text):
        return "hidden_text"
    for reading in list_readings(text):
        if reason := find_mark(reading) or find_phrase(reading, _instruction_phrases()):
            return reason
        for blob in decode_base64_parts(reading):
            if find_mark(blob) or find_phrase(blob, _instruction_phrases()):
                return "encoded_text"
    return None


def list_phrase_reasons() -> tuple[str, ...]:
    """Return the reasons in instructions.yaml, in order."""
    return _instruction_phrases().reasons


def find_phrase(text: str, phrases: Phrases) -> str | None:
    """Return the reason of the first phrase that matches, or None."""
    words = _split_sentence_words(text, phrases.noise)
    for place, word in enumerate(words):
        for phrase in phrases.by_first_word.get(word, ()):
            if place and words[place - 1] in phrase.none_before:
                continue
            if _matches_from(phrase.steps, words, place):
                return phrase.reason
    return None


def _split_sentence_words(text: str, noise: frozenset[str]) -> list[str]:
    """Return lower-case words with a mark at each end of a sentence; a line break is no end."""
    pieces = (match[0] for match in _PIECE.finditer(text.lower()))
    return [one if one[0].isalnum() else _END for one in pieces if one not in noise]


def _matches_from(steps: Sequence[PhraseStep], words: Sequence[str], start: int) -> bool:
    """Match the steps from a word on, with all possible positions at once: no backtracking."""
    places = {start}
    for step in steps:
        places = {after for place in places for after in _advance(step, words, place)}
    return bool(places)


def _advance(step: PhraseStep, words: Sequence[str], place: int) -> set[int]:
    word = words[place] if place < len(words) else _END
    fits = word in step.words
    match step.takes:
        case "one":
            return {place + 1} if fits else set()
        case "maybe":
            return {place, place + 1} if fits else {place}
        case "not":
            return set() if fits else {place}
        case "not_behind":
            return set() if words[place - 1] in step.words else {place}
        case "no_number":
            return set() if word[0].isdigit() else {place}
    most = _REPEAT_MAX_WORDS if step.takes == "many" else _GAP_MAX_WORDS
    reached = {place}
    for after in range(place, min(place + most, len(words))):
        if words[after] == _END or (words[after] in step.words) != (step.takes == "many"):
            break
        reached.add(after + 1)
    return reached


@cache
def _instruction_phrases() -> Phrases:
    return load_phrases("instructions.yaml")


def load_phrases(name: str) -> Phrases:
    import yaml

    source = resources.files("tacit.screening").joinpath(name).read_text("utf-8")
    data = yaml.safe_load(source)
    sets = {name: frozenset(str(words).split()) for name, words in data["sets"].items()}
    found: dict[str, list[Phrase]] = {}
    for reason, lines in data["reasons"].items():
        for line in lines:
            phrase = _parse_phrase(reason, line, sets)
            for word in phrase.steps[0].words:
                found.setdefault(word, []).append(phrase)
    return Phrases(
        by_first_word={word: tuple(phrases) for word, phrases in found.items()},
        noise=sets["noise"],
        reasons=tuple(data["reasons"]),
    )


def _parse_phrase(reason: str, line: str, sets: Mapping[str, frozenset[str]]) -> Phrase:
    steps = tuple(_parse_phrase_step(part, sets) for part in line.removeprefix("^").split())
    if steps[0].takes != "one":
        raise ValueError(f"{reason}: a phrase must begin with words: {line}")
    if any(one.takes == other.takes == "gap" for one, other in pairwise(steps)):
        raise ValueError(f"{reason}: two gaps follow each other: {line}")
    doers = sets["doers"] if line.startswith("^") else frozenset[str]()
    return Phrase(reason=reason, steps=steps, none_before=doers)


def _parse_phrase_step(part: str, sets: Mapping[str, frozenset[str]]) -> PhraseStep:
    takes: Literal["one", "maybe", "many", "gap", "not", "not_behind", "no_number"] = "one"
    if part == "!#":
        part, takes = "", "no_number"
    elif part.startswith("..."):
        part, takes = part[3:], "gap"
    elif part[0] in "!-":
        part, takes = part[1:], "not" if part[0] == "!" else "not_behind"
    elif part[-1] in "?*":
        part, takes = part[:-1], "maybe" if part[-1] == "?" else "many"
    words: set[str] = set()
    for word in part.split("|"):
        words |= sets[word[1:-1]] if word.startswith("<") else {word}
    return PhraseStep(words=frozenset(words - {""}), takes=takes)


# Standing instructions: what the assistant is to do from now on.

_SENTENCE_START = ". "  # so that the first sentence begins like every other one
_COMMAND = "command"  # a bare imperative, which is also the wording of a task


@lru_cache(maxsize=8_192)
def is_standing_instruction(text: str, *, task: bool = False) -> bool:
    """Whether the text is a standing instruction.

    Broad on purpose: a false positive is still kept as a memory of its speaker.
    """
    reason = find_phrase(_SENTENCE_START + text, _standing_phrases())
    if reason is not None and not (task and reason == _COMMAND):
        return True
    return find_instruction(text) is not None


@cache
def _standing_phrases() -> Phrases:
    return load_phrases("orders.yaml")
