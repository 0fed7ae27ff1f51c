"""Split a message into sentences and clauses, and read the holds that it states."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, takewhile

from tacit.learning.extraction.locale import (
    HoldForm,
    Locale,
    apply_rewrites,
    list_locales,
    load_hold_forms,
    load_locale,
    may_match,
)
from tacit.learning.extraction.mentions import is_name, make_mention
from tacit.learning.facts import Hold, Mention
from tacit.text import fold_case

# What is the same for every clause of a message: who speaks, when, and how.


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """What is the same for every clause of a message."""

    speaker: str
    said_at: datetime
    locale: Locale
    lower: bool  # the message has no capitals
    laughing: bool = False
    explicit: bool = False
    weighty: bool = False  # the speaker said how far it may go: it is no chatter
    noted: bool = False  # said to be known from now on: "fyi", "heads up"
    meant: str | None = None  # whom him, her or them must mean


# A message cut into sentences and clauses that keep their place in it; what is not the speaker's
# own plain word (quotes, code, what another person wrote) is blanked out first.

LOOKED_AT_MAX_CHARS = 2_000
SENTENCES_MAX_COUNT = 40
CLAUSES_MAX_COUNT = 8
CLAUSE_MAX_CHARS = 300
# Stands for what was blanked out: no form has a place for it.
BLANK = "▒"

_STRAIGHT = {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"'}
_STRAIGHT |= {"»": '"', "‟": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "…": "."}
_FENCE = re.compile(r"```.{0,2000}?(?:```|\Z)", re.DOTALL)
_TICKS = re.compile(r"`[^`\n]{1,200}`")
_DOUBLE = re.compile(r'"[^"\n]{1,400}(?:"|$)')
_SINGLE = re.compile(r"(?<!\w)'[^'\n]{2,300}'(?!\w)|(?<!\w)'[^\n]{2,300}[.!?,]'(?!\w)")
_GAP = re.compile(r"\s{9,}")
_PICTURE = "\ue000"
_SMILEY = re.compile(r"(?<=\s)[:;=]-?[()DPp](?=\s)")
_PICTURES = re.compile(f"{_PICTURE}[{_PICTURE} ]*(?=[^?!.,;:){_PICTURE} ])")
_EMPHASIS = re.compile(r'[*~"`]+|(?<!\w)_+|_+(?!\w)')
_SPACES = re.compile(r"[^\S\n]+")
_ADORNMENTS = ("*", "~", '"', "`", "_", "  ", "\t", "\r", "\xa0")
_LINK = re.compile(r"\b(?:https?://|www\.)\S{1,300}")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_CODE_LINE = re.compile(
    r"^.*(?:[{}]|;[ \t]*$|==|=>|\+=|</|/>|\w\(.{0,80}\)[ \t]*[:;{]?[ \t]*$|^\s*[$#] \w"
    r"|^\s*(?:def|import|class|const|let|var|function|select|insert|return) .{0,80}[(){}=;*]"
    r"|\w = \S|\"\w+\": ).*$",
    re.MULTILINE | re.IGNORECASE,
)
_SPOKEN_LINE = re.compile(r"^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?(@?\w[\w .-]{0,30}):[ \t]", re.MULTILINE)
_END = re.compile(r"[.!?]{1,10}[\")]{0,2}(?=\s|$)|\n+|;(?=\s)|$")
_LAST_WORD = re.compile(r"[\w.]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpan:
    """A stretch of the message: `text` is what the rules read, with the same length."""

    start: int
    end: int
    text: str
    asked: bool = False  # it ends with a question mark
    opened: bool = True  # it begins a sentence


def squeeze_spaces(text: str) -> str:
    """The message with gaps as people write them: rules go back over a long one again and again."""
    return _GAP.sub(lambda gap: "\n\n" if "\n" in gap[0] else " ", text)


def blank_quotations(text: str, locale: Locale) -> str:
    """The message with everything that is not the speaker's own plain word blanked out."""
    seen = text[:LOOKED_AT_MAX_CHARS]
    # Straight quotes come after backticks, which mean code in pairs and an apostrophe alone.
    for pattern in (_FENCE, _TICKS):
        seen = pattern.sub(_blank, seen)
    if seen.isascii():  # then there is but one of them to straighten, and no picture
        seen = seen.replace("`", "'")
    else:
        seen = "".join(_STRAIGHT.get(char, char) for char in seen)
        seen = "".join(_PICTURE if _picture(char) else char for char in seen)
    seen = _SMILEY.sub(lambda match: _PICTURE * len(match[0]), seen)
    # A picture ends a sentence, where nothing else does.
    seen = _PICTURES.sub(lambda match: "." + " " * (len(match[0]) - 1), seen)
    seen = seen.replace(_PICTURE, " ")
    for pattern in (_QUOTED_LINE, _CODE_LINE, _DOUBLE, _SINGLE, _LINK):
        seen = pattern.sub(_blank, seen)
    return _without_other_speakers(seen, locale)


def strip_formatting(text: str) -> str:
    """The text without what only its look is made of: typographic quotes and dashes, pictures,
    emphasis, marks without a width, spaces in a row. Its length may change."""
    if not text.isascii():
        text = "".join(_STRAIGHT.get(char, char) for char in text)
        text = "".join("" if _is_invisible(char) else char for char in text)
        text = "".join("." if _picture(char) else char for char in text)
    if any(mark in text for mark in _ADORNMENTS):
        text = _SPACES.sub(" ", _EMPHASIS.sub("", text))
    return text


def _is_invisible(char: str) -> bool:
    return char > "\x7f" and (unicodedata.category(char) == "Cf" or "︀" <= char <= "️")


def _blank(match: re.Match[str]) -> str:
    return BLANK * len(match[0])


def _picture(char: str) -> bool:
    return char > "\x7f" and (unicodedata.category(char) in ("So", "Sk", "Cf") or "︀" <= char <= "️")


def _without_other_speakers(text: str, locale: Locale) -> str:
    """A line that opens with a name and a colon is pasted from another person's talk."""
    cuts = []
    for match in _SPOKEN_LINE.finditer(text):
        label = match[1].split()
        named = all(word[:1].isupper() or word[:1] == "@" for word in label)
        own = {word.casefold() for word in label} & locale.words["labels"]
        if named and len(label) <= 3 and not own:
            stop = text.find("\n", match.end())
            cuts.append((match.start(), len(text) if stop < 0 else stop))
    for start, stop in cuts:
        text = text[:start] + BLANK * (stop - start) + text[stop:]
    return text


def split_sentences(seen: str, locale: Locale) -> list[TextSpan]:
    found: list[TextSpan] = []
    start = 0
    for match in _END.finditer(seen):
        if match.start() < len(seen) and not _ends(seen, match, locale):
            continue
        piece = _trimmed(seen, start, match.start(), asked="?" in match[0])
        if piece:
            found.append(piece)
        start = match.end()
        if len(found) == SENTENCES_MAX_COUNT:
            break
    return found


def _ends(seen: str, match: re.Match[str], locale: Locale) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or an ordinal."""
    if match[0] != ".":
        return True
    before = _LAST_WORD.search(seen, max(0, match.start() - 20), match.start())
    if before is None:
        return True
    word = before[0].casefold()
    if word in locale.words["abbreviations"]:
        return False
    after = re.match(r"\s+(\w+)", seen[match.end() : match.end() + 30])
    if word.isdecimal() and len(word) <= 2:
        return not (after and after[1].casefold() in locale.words["months"])
    return not (len(word) == 1 and before[0].isupper() and word != locale.texts["one_letter_word"])


def split_clauses(sentence: TextSpan, locale: Locale) -> list[TextSpan]:
    """A sentence cut where a new subject, or a verb that shares the last one, begins."""
    found: list[TextSpan] = []
    start = 0
    for match in locale.patterns["joint"].finditer(sentence.text):
        before = sentence.text[start : match.start()]
        bare = locale.patterns["bare_subject"].match(before) and not match[0].startswith(":")
        if bare or is_only_date(before, locale):
            continue  # "Bob and I", "Last week, my aunt": one clause, not two
        if match[0].isspace() and locale.has("subordinating", before):
            continue
        found.append(_clause(sentence, start, match.start(), opened=start == 0))
        start = match.end()
        if len(found) == CLAUSES_MAX_COUNT:
            break
    found.append(_clause(sentence, start, len(sentence.text), opened=start == 0))
    return [piece for piece in found if piece.text]


def is_only_date(text: str, locale: Locale) -> bool:
    text = text.strip()
    return any(form.match.fullmatch(text) for form in locale.dates.forms)


def _clause(sentence: TextSpan, start: int, end: int, *, opened: bool) -> TextSpan:
    piece = _trimmed(sentence.text, start, end)
    if piece is None or piece.end - piece.start > CLAUSE_MAX_CHARS:
        return TextSpan(start=0, end=0, text="")
    return TextSpan(start=sentence.start + piece.start, end=sentence.start + piece.end, text=piece.text, opened=opened)


def _trimmed(seen: str, start: int, end: int, *, asked: bool = False) -> TextSpan | None:
    while start < end and (seen[start].isspace() or seen[start] in ",:-*•)"):
        start += 1
    while start < end and (seen[end - 1].isspace() or seen[end - 1] in ",-:("):
        end -= 1
    return TextSpan(start=start, end=end, text=seen[start:end], asked=asked) if start < end else None


# What a speaker says of themselves, put into the third person.


def to_third_person(predicate: str, locale: Locale) -> str:
    """ "work at Acme" -> "works at Acme": the first word that is no adverb is the verb."""
    words = predicate.split(" ")
    for position, word in enumerate(words):
        if word.lower() in locale.words["adverbs"] or locale.has("manner", word.lower()):
            continue
        words[position] = _third(word, locale)
        break
    return _joined(words, locale)


def _joined(words: list[str], locale: Locale) -> str:
    """ "is fluent in Dutch and have two cats": a second verb has the same subject."""
    for position, (before, _) in enumerate(pairwise(words), start=1):
        joins = before.lower() in locale.words["conjunctions"] | locale.words["coordinating"]
        if joins and opens_with_verb(" ".join(words[position:]), locale):
            adverbs = takewhile(lambda one: one.lower() in locale.words["adverbs"], words[position:])
            verb = position + len(list(adverbs))
            words[verb] = _third(words[verb], locale)
    return " ".join(words)


def opens_with_verb(text: str, locale: Locale) -> bool:
    """Whether a conjunct begins with a verb whose subject is that of the one before it. A word
    that may be a noun as well needs one that can follow only a verb: "drink a lot"."""
    words = text.split()
    while words and words[0].lower() in locale.words["adverbs"]:
        words = words[1:]
    if not words:
        return False
    if locale.patterns["verb_first"].match(" ".join(words)):
        return True
    tags = locale.frames.get(words[0].lower(), frozenset())
    acts = any(tag.endswith((":bare", ":now")) for tag in tags)
    return acts and len(words) > 1 and words[1].lower() in locale.words["after_verbs"]


def _third(word: str, locale: Locale) -> str:
    verbs, folded = locale.verbs, word.lower()
    if folded in verbs.irregular:
        return verbs.irregular[folded]
    if folded in verbs.same or folded.endswith(verbs.same_endings) or _past(folded, locale):
        return folded
    for pattern, new in verbs.endings:
        if pattern.search(folded):
            return pattern.sub(new, folded, count=1)
    return folded


def _past(word: str, locale: Locale) -> bool:
    """ "Lent" and "paid" are the same of all people."""
    tags = locale.frames.get(word, frozenset())
    return any(tag.endswith(":past") for tag in tags) and not any(tag.endswith(":bare") for tag in tags)


def replace_inner_speaker(text: str, speaker: str, locale: Locale) -> str:
    """ "The house I live in" -> "the house Alice lives in": the speaker inside a predicate."""
    before, said, rest = _parted(text, locale)
    while said:
        inner, said, more = _parted(rest, locale)
        before, rest = f"{before}{speaker} {to_third_person(inner, locale)}", more
    return before


def _parted(text: str, locale: Locale) -> tuple[str, str, str]:
    match = locale.patterns["self_within"].search(text)
    if match is None:
        return text, "", ""
    return text[: match.start()], match[0], text[match.end() :]


def to_singular_verb(predicate: str, locale: Locale) -> str:
    """ "live in Rome" -> "lives in Rome": what many do, as forms know it."""
    words = predicate.split(" ")
    for position, word in enumerate(words):
        folded = word.casefold()
        if folded in locale.words["adverbs"]:
            continue
        if folded in locale.verbs.plural:
            words[position] = locale.verbs.plural[folded]
        elif _past(folded, locale):
            break
        elif folded not in locale.verbs.same and not folded.endswith(locale.verbs.same_endings):
            for pattern, new in locale.verbs.plural_endings:
                if pattern.search(folded):
                    words[position] = pattern.sub(new, folded, count=1)
                    break
        break
    return " ".join(words)


# Other orders of words, put into the one that forms are written in.


def reorder_words(text: str, locale: Locale) -> str:
    seen = fold_case(text)
    for pattern, new, needs in locale.rewrites:
        if not may_match(needs, seen) or pattern.search(text) is None:
            continue
        changed = pattern.sub(new, text, count=1)
        if changed != text and changed.endswith(text):
            # A subject was put before it: it no longer opens the sentence.
            changed = changed.removesuffix(text) + lower_first_word(text)
        text = _moved(text, changed, locale)
        seen = fold_case(text)
    return text


def lower_first_word(text: str) -> str:
    return text[:1].lower() + text[1:]


def _moved(text: str, changed: str, locale: Locale) -> str:
    """What opened a sentence, and no longer does, loses its capital where it is a small word."""
    first = text.split(" ", 1)[0]
    small = locale.words["small"] | locale.words["backward"]
    if changed.startswith(first) or first.casefold() not in small:
        return changed
    return changed.replace(f" {first} ", f" {lower_first_word(first)} ", 1)


# The subject that people leave out when they type: "saving up for a boat", "can't do mornings".

_WORD = re.compile(r"[\w'’-]+")


def lacks_subject(text: str, locale: Locale) -> bool:
    """Whether a clause begins with its verb, so that its subject is that of the clause before it
    and not the speaker as a matter of course."""
    if locale.patterns["elided"].match(text):
        return True
    text = apply_rewrites(locale.spelling, text)
    if locale.has("self", text):
        return False
    return supply_subject(text, locale) is not None or locale.has("self", reorder_words(text, locale))


def supply_subject(text: str, locale: Locale) -> str | None:
    """The clause with the speaker put before it, where its first verb can be no order; else None.
    What it then says is judged like any other clause."""
    if "speaking" not in locale.texts or locale.has("self", text):
        return None
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < 2:
        return None  # "married" may answer any question
    for pattern, new in locale.supplied:
        if pattern.match(text):
            return pattern.sub(new, _inside(text) if new.endswith(" ") else text, count=1)
    while words and words[0] in locale.words["adverbs"]:
        words = words[1:]
    if len(words) < 2 or words[0] in locale.words["marital"]:
        return None  # "married life is great"
    tags = locale.frames.get(words[0], frozenset())
    if any(tag.endswith(":bare") for tag in tags):
        return None  # "read", "put" and "set" may be orders
    if any(tag.endswith(":past") for tag in tags):
        return f"{locale.texts['self']} {_inside(text)}"
    if any(tag.endswith(":going") for tag in tags) and not _told_of(words, locale):
        return f"{locale.texts['speaking']} {_inside(text)}"
    return None


def _told_of(words: list[str], locale: Locale) -> bool:
    """ "Training is hard", "using Chrome does not help": the deed itself is spoken of."""
    listed = locale.words
    verbs = listed["verbs_being"] | listed["verbs_denying"] | listed["verbs_having"]
    linked = listed["noun_ends"] | listed["pronouns"]
    return any(word in verbs and before not in linked for before, word in pairwise(words))


def _inside(text: str) -> str:
    return text[:1].lower() + text[1:]


# Holds: how far a message may go, and from whom it is kept.

_HELD_WORD = re.compile(r"@?\w[\w'-]*")
_EMPTIED = re.compile(r"\([\s.,:;!-]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldScope:
    """How far a message may go. The strictest word of a message counts."""

    hold: Hold | None = None
    withheld_from: tuple[Mention, ...] = ()

    @property
    def guarded(self) -> bool:
        """Whether some people may not hear the message."""
        return self.hold in (Hold.UNKEPT, Hold.PRIVATE, Hold.ROOM) or bool(self.withheld_from)


_STRICTNESS = {Hold.UNKEPT: 3, Hold.PRIVATE: 2, Hold.ROOM: 1, Hold.SHARE: 0}
# With fewer words besides the hold, a message only says how far another one may go.
_OWN_WORDS_MIN_COUNT = 3


def read_locale_holds(text: str, locale: Locale) -> HoldScope:
    holds: list[Hold] = []
    withheld: list[Mention] = []
    for form in _likely(text, locale):
        if form.last and (holds or withheld):
            continue
        for match in form.match.finditer(text):
            names = match.groupdict().get("names")
            if form.hold:
                holds.append(form.hold)
            elif names:
                withheld += _named(names, locale, firm=form.firm) or _meant(names, text, locale)
    return HoldScope(hold=_strictest(holds), withheld_from=tuple(dict.fromkeys(withheld)))


def read_holds(text: str) -> HoldScope:
    """Read the holds of a text in every language there are rules for; what only allows to share is
    not looked for. Fast where there is none: the rest of a language's rules is loaded only once
    one of its holds matches."""
    text = strip_formatting(text)
    return combine_holds(read_locale_holds(text, load_locale(code)) for code in _held_in(text))


def combine_holds(found: Iterable[HoldScope]) -> HoldScope:
    """The strictest hold of several messages, withheld from all people whom one of them names."""
    every = list(found)
    return HoldScope(
        hold=_strictest([one.hold for one in every if one.hold]),
        withheld_from=tuple(dict.fromkeys(who for one in every for who in one.withheld_from)),
    )


def is_only_hold(text: str) -> bool:
    """Whether a text with a hold says little else: "but keep that between us"."""
    text = strip_formatting(text)
    for code in _held_in(text):
        text = blank_holds(text, load_locale(code))
    return len(_HELD_WORD.findall(text)) < _OWN_WORDS_MIN_COUNT


def has_hold(text: str) -> bool:
    """Whether a text says, in any language that is read here, that not all people may hear it."""
    return read_holds(text).guarded


def _held_in(text: str) -> list[str]:
    """The languages one of whose holds matches. That a text may be shared holds nothing back."""
    seen = fold_case(text)
    return [
        code
        for code in list_locales()
        if any(
            form.hold is not Hold.SHARE and may_match(form.needs, seen) and form.match.search(text)
            for form in load_hold_forms(code)
        )
    ]


def _strictest(holds: list[Hold]) -> Hold | None:
    return max(holds, key=_STRICTNESS.__getitem__, default=None)


def blank_holds(text: str, locale: Locale) -> str:
    """The text without those words, but for those that a fact is made of; its length stays."""
    for form in _likely(text, locale):
        if form.stated:
            continue
        text = form.match.sub(lambda match: "." + " " * (len(match[0]) - 1), text)
    # What stood in brackets ends no sentence: "I bought a watch (don't tell Bob) for his birthday".
    return _EMPTIED.sub(lambda match: " " * len(match[0]), text)


def _likely(text: str, locale: Locale) -> list[HoldForm]:
    """Those that may match, also once others are cut out of the text."""
    seen = fold_case(text)
    return [form for form in locale.holds if may_match(form.needs, seen)]


def _meant(pronoun: str, text: str, locale: Locale) -> list[Mention]:
    """Whom "don't tell him" can mean: all people whom the message names, because one too many hears
    less, and one too few would hear it. Where it names no person, an unknown one."""
    if pronoun.casefold() not in locale.words["pronouns_hushed"]:
        return []
    words = (word.removesuffix("'s") for word in _HELD_WORD.findall(text.replace("’", "'")))
    names = [make_mention(word, None, word) for word in words if is_name(word, locale)]
    return names or [make_mention(pronoun)]


def _shortened(text: str, locale: Locale) -> str:
    """A name without what goes on after it: "don't tell Quinn the party is on Friday"."""
    words, small = text.split(), locale.words["small"]
    if not words or words[0].casefold() in small:
        return text
    end = next((n for n, word in enumerate(words) if word.casefold() in small), len(words))
    return " ".join(words[:end])


def _named(text: str, locale: Locale, *, firm: bool) -> list[Mention]:
    """The people of a list. A `firm` hold is for those too whose names are not recognized."""
    spared = locale.words["never_hushed"] | locale.words["pronouns_hushed"]
    found = []
    for one in locale.patterns["listed"].split(text):
        one = _shortened((one or "").strip(" ,.!"), locale)
        kin = locale.patterns["somebody"].fullmatch(one)
        if kin:
            known = locale.kin[kin["kin"].casefold()]
            name = kin["name"] if kin["name"] and is_name(kin["name"], locale) else None
            found.append(make_mention(one, known, name))
        elif one.casefold() in locale.kin:  # "don't tell mum"
            found.append(make_mention(one, locale.kin[one.casefold()]))
        elif is_name(one, locale) or is_name(one.partition(" ")[0], locale):  # "bob smith"
            found.append(make_mention(one, None, one))
        elif firm and one and one.casefold().split()[0] not in spared:  # "the boss"
            found.append(make_mention(one))
    return found
