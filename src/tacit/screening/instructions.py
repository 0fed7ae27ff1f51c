"""Detect text that instructs the assistant instead of stating a fact."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

from tacit.unicode import list_readings

# Marks of a prompt, tool calls, hidden characters, encoded text and links that carry data away.

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

# Zero-width characters that part nothing in Latin script; runs of what carries no letter at all.
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e"
_ZERO_WIDTH_IN_WORD = re.compile(f"(?<=[A-Za-z])[{_ZERO_WIDTH}]+(?=[A-Za-z])")
_HIDDEN_RUN = re.compile(
    f"[{_ZERO_WIDTH}]{{3,}}|[\ufe00-\ufe0f]{{2,}}|[\U000e0100-\U000e01ef]{{2,}}|[\u202d\u202e]"
)
_TAG = re.compile("[\U000e0000-\U000e007f]")
# The flags of England, Scotland and Wales are spelt with tags.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")

_BLOB = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,4000}+={0,2}")
_BLOBS_MAX_COUNT = 8


@cache
def _mark_checks() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
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


def find_mark(text: str) -> str | None:
    """The reason that marks and markup give; None where there are none."""
    lower = text.lower()
    for reason, hints, pattern in _mark_checks():
        if any(hint in lower for hint in hints) and pattern.search(text):
            return reason
    return "role_marker" if _is_written_out_conversation(text) else None


def _is_written_out_conversation(text: str) -> bool:
    """A conversation that somebody wrote out, with the assistant's part in it."""
    turns = {turn[1].lower() for turn in _TURN.finditer(text)}
    return bool(turns & {"assistant", "ai", "model"}) and bool(turns & {"user", "human", "system"})


def has_hidden_text(text: str) -> bool:
    """Characters that a reader does not see, where no script and no emoji has a use for them."""
    if text.isascii():
        return False
    if _HIDDEN_RUN.search(text) or _ZERO_WIDTH_IN_WORD.search(text):
        return True
    return _TAG.search(_FLAG.sub("", text)) is not None


def decode_base64_parts(text: str) -> Iterator[str]:
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


# Text that instructs the assistant or the memory instead of telling something: why it is suspect.
#
# Phrases come from instructions.yaml; marks, markup and hidden characters from
# instruction_marks.py.

_REPEAT_MAX_WORDS = 4  # that a repeated element takes at most
_GAP_MAX_WORDS = 6
_END = "."
_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[.!?](?=\s|$)|\n\s*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseStep:
    """One element of a phrase: the words it takes, and how often."""

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
    noise: frozenset[str]  # words that change nothing: please, just
    reasons: tuple[str, ...]


def find_instruction(text: str) -> str | None:
    """The name of the reason why a text is taken for an instruction; None for ordinary text."""
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
    """The reasons that phrases give, in the order of the file."""
    return _instruction_phrases().reasons


def find_phrase(text: str, phrases: Phrases) -> str | None:
    """The reason of the first phrase that the text has."""
    words = _split_sentence_words(text, phrases.noise)
    for place, word in enumerate(words):
        for phrase in phrases.by_first_word.get(word, ()):
            if place and words[place - 1] in phrase.none_before:
                continue
            if _matches_from(phrase.steps, words, place):
                return phrase.reason
    return None


def _split_sentence_words(text: str, noise: frozenset[str]) -> list[str]:
    """Lower case, with a mark for the end of a sentence; a single line break ends none."""
    pieces = (match[0] for match in _PIECE.finditer(text.lower()))
    return [one if one[0].isalnum() else _END for one in pieces if one not in noise]


def _matches_from(steps: Sequence[PhraseStep], words: Sequence[str], start: int) -> bool:
    """All the places a phrase may have come to, one step after another: no way is tried twice."""
    places = {start}
    for step in steps:
        reached: set[int] = set()
        for place in places:
            reached |= _advance(step, words, place)
        if not reached:
            return False
        places = reached
    return True


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
    """Read once, at the first text that is looked at."""
    return load_phrases("instructions.yaml")


def load_phrases(name: str) -> Phrases:
    """The phrases of a file beside this one."""
    from importlib import resources

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
        raise ValueError(f"{reason}: a phrase begins with words: {line}")
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


# Whether a text tells the assistant what to do from now on, instead of telling something.

_CACHED_COUNT = 8_192
_SENTENCE_START = ". "  # so that the first sentence begins as every other one does
_COMMAND = "command"  # a bare imperative, which is what a task is worded as


@lru_cache(maxsize=_CACHED_COUNT)
def is_standing_instruction(text: str, *, task: bool = False) -> bool:
    """Broad on purpose: what is taken for an order is still its giver's own memory."""
    found = find_phrase(_SENTENCE_START + text, _standing_phrases())
    return (found is not None and not (task and found == _COMMAND)) or find_instruction(
        text
    ) is not None


@cache
def _standing_phrases() -> Phrases:
    return load_phrases("orders.yaml")
