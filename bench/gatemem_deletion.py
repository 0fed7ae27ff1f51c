"""Deletion requests in plain English: which sentences ask for one, and which values they name.

Rules that know nothing of an episode: verbs, quotation marks, numbers and names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)(?<=[.!?])[\"'”’]?\s+")
_CLAUSE_END = re.compile(r";\s+|,?\s+but\s+")
_START = r"(?:^|[:;,]\s+|\b(?:please|also|and|then|now|yes)[,.]?\s+)"
_ORDERS = (
    re.compile(rf"{_START}(?:delete|erase|purge|wipe|scrub|forget(?! to\b))\b", re.IGNORECASE),
    re.compile(
        rf"{_START}(?:remove|retire|clear|drop|strip)\b"
        r"(?=.*\b(?:memory|chart|records?|notes?|logs?|files?)\b)",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:I|we)\b[\w ]* want\b.*\b(?:deleted|erased|removed|forgotten)\b", re.IGNORECASE),
    re.compile(r"\btreated as\b.*\b(?:deleted|unavailable)\b", re.IGNORECASE),
    re.compile(r"\bdo not retain\b", re.IGNORECASE),
)
_RECORD = re.compile(
    r"^(?:deletion|deleted)\b.*[:;]|^deletion request\b|"
    r"\b(?:cleared|deleted|erased|removed) from (?:\w+ ){0,3}memory\b",
    re.IGNORECASE,
)
_KEEPING = re.compile(
    r"\b(?:may still|still (?:say|use)|may be retained|keep(?:ing)? only|retain only|leav\w+ only|"
    r"keep the|remains?)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“‘]([^\"”’]{3,80})[\"”’]|(?<!\w)'([^']{3,80})'(?!\w)")
_LABELLED = re.compile(r"\b([A-Za-z]+)\s+(\d{1,3}[A-Z]?)\b(?![-:%,]?\d)(?!\s*(?:AM|PM|%))")
_CODE = re.compile(r"(?<![\w.:,])(?=[\w-]*\d)(?=[\w-]{4,})[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*(?![\w:])")
_NAME = re.compile(r"\b[A-Z][A-Za-z]+(?:\s+[A-Z][A-Za-z]+)*\b")
_PHONE = re.compile(r"\b\d{3}-\d{3}-\d{4}\b")
_NUMBERED = re.compile(r"\b(?:numbers?|line|phone|contact|desk|callback)\b", re.IGNORECASE)
_CALENDAR = frozenset(
    re.findall(
        r"\w+",
        "january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday",
    )
)
_AFTER_NAMING = re.compile(r"\b(?:name|named|alias|for|under|called)\s+$", re.IGNORECASE)
# Words that start a sentence or a heading and name nothing.
_PLAIN = frozenset(
    re.findall(
        r"\w+",
        "a after all also am and any as at broad delete deleted deletion do for from he her his i "
        "if in it keep later my no not note now ok okay old on only our pm please project reminder "
        "remove request retain retire security she so that the their then there these this to "
        "treat value we when with yes you your action dr nurse mr mrs ms usd",
    )
)
_NO_LABEL = frozenset(re.findall(r"\w+", "after at before until by the of in on and or to for from about than"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a message asks to be deleted."""

    values: tuple[str, ...]  # as they were named; none where they are only described
    sentences: tuple[str, ...]  # that ask, or tell of it
    record: bool  # it tells of a deletion, and asks for none itself

    @property
    def words(self) -> str:
        return " ".join(self.sentences)


def sentences(text: str) -> list[str]:
    return [one.strip() for one in _SENTENCE_END.split(text) if one.strip()]


def statements(text: str) -> list[str]:
    """A question states nothing that could be remembered."""
    return [one for one in sentences(text) if not one.rstrip("\"'”’").endswith("?")]


def asks(sentence: str) -> bool:
    return any(order.search(sentence) for order in _ORDERS)


def order_in(text: str, known: Collection[str]) -> Order | None:
    """`known` are the names of the people and projects here: they are never what is deleted."""
    stated = statements(text)
    told = [one for one in stated if _RECORD.search(one)]
    asking = [one for one in stated if asks(one) and one not in told]
    found = asking or told
    if not found:
        return None
    values = [value for one in found for value in _values(one, known)]
    return Order(values=tuple(dict.fromkeys(values)), sentences=tuple(found), record=not asking)


_NAME_MIN_CHARS = 6
_TRADES = frozenset((
    "bank", "clinic", "corp", "gmbh", "group", "holdings", "hospital", "inc", "labs", "llc", "ltd",
    "partners", "systems",
))  # fmt: skip


def telling_parts(value: str) -> list[str]:
    """The last four digits of a number tell it as well as the whole, and a company goes by its name
    without what it trades in."""
    parts = _folded(value).split()
    if len(parts) < 2:
        return []
    if parts[-1] in _TRADES and len(parts[0]) >= _NAME_MIN_CHARS:
        return [" ".join(parts[:-1])]
    if not _CODE.fullmatch(value):
        return []
    return [part for part in parts if len(part) >= 4 and any(c.isdigit() for c in part)]


def contains(text: str, value: str) -> bool:
    """Whether a text holds a value, in whatever case and punctuation."""
    found = _pattern(value).search(_folded(text))
    return found is not None


def holding(text: str, values: Iterable[str]) -> bool:
    return any(contains(text, value) for value in values)


def tied_numbers(text: str, value: str) -> list[str]:
    """Telephone numbers that stand right behind a name: "Willow House desk 628-555-0191"."""
    found = []
    for at in re.finditer(re.escape(value), text, re.IGNORECASE):
        behind = re.split(r"[.;]\s|\b(?:mobile|cell)\b", text[at.end() : at.end() + 60])[0]
        found += _PHONE.findall(behind)
    return found


def describes_numbers(order: Order) -> bool:
    return bool(_NUMBERED.search(order.words))


def _values(sentence: str, known: Collection[str]) -> list[str]:
    found: list[str] = []
    for clause in _CLAUSE_END.split(sentence):
        if _KEEPING.search(clause) and not asks(clause):
            continue
        for quoted in _QUOTED.finditer(clause):
            inner = quoted[1] or quoted[2]
            if "=" not in inner:
                found.append(inner.strip(" .,"))
        found += [code[0] for code in _CODE.finditer(clause)]
        found += [
            f"{label[1]} {label[2]}"
            for label in _LABELLED.finditer(clause)
            if label[1].lower() not in _NO_LABEL | _CALENDAR
        ]
        found += _names(clause, known)
    return found


def _names(clause: str, known: Collection[str]) -> list[str]:
    taken = {word for name in known for word in name.lower().split()}
    found = []
    for match in _NAME.finditer(clause):
        words = match[0].split()
        while words and words[0].lower() in _PLAIN | taken:
            words.pop(0)
        while words and words[-1].lower() in _PLAIN | taken:
            words.pop()
        calendar = len(words) == 1 and words[0].lower() in _CALENDAR
        if words and (not calendar or _AFTER_NAMING.search(clause[: match.start()])):
            found.append(" ".join(words))
    return found


def _pattern(value: str) -> re.Pattern[str]:
    words = _folded(value).split()
    if words and words[0] in ("ext", "extension"):
        words[0] = "(?:ext|extension)"
    else:
        words[:1] = [re.escape(word) for word in words[:1]]
    body = r"\s+".join([*words[:1], *map(re.escape, words[1:])])
    dated = r"(?!\s+\d)" if _folded(value) in _CALENDAR else ""  # June 9 is a day, June is not
    return re.compile(rf"(?<!\w){body}(?!\w){dated}")


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())
