"""The disclosure rules: decide whether a request may use a memory, and explain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Decision, Request
from tacit.records.results import AudiencePreview, Explanation

# `decide` is a pure, total function: the first rule that applies wins. RULES mirrors the table in
# docs/disclosure.md row by row. Nothing here reads a database, a clock or a setting; that page also
# says how a missing or malformed field counts.

_NO_PEOPLE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Facts:
    """One memory in relation to one request: people as person ids, derived flags."""

    me: str | None
    audience: frozenset[str]
    complete: bool
    private: bool
    in_group: bool
    manage: bool
    live: bool
    withheld: bool  # from a person who is or may be here
    owner: str | None
    speaker: str | None
    subjects: frozenset[str]
    heard: frozenset[str]
    inferred: bool
    provenance: bool
    group_learned: bool
    here: bool
    confidential: bool
    private_only: bool
    public_ok: bool
    public: bool
    sensitive: bool
    portable: bool

    @property
    def about_me(self) -> bool:
        return self.me in self.subjects

    @property
    def mine(self) -> bool:
        return self.me is not None and self.me == self.owner

    @property
    def said_by_me(self) -> bool:
        return self.me is not None and self.me == self.speaker

    @property
    def heard_by_me(self) -> bool:
        return self.me in self.heard

    @property
    def may_leave(self) -> bool:
        return self.group_learned and not self.confidential and self.portable and self.public


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    allows: bool
    applies: Callable[[_Facts], bool]
    says: str  # one sentence for the owner


def _always(_: _Facts) -> bool:
    return True


RULES: tuple[Rule, ...] = (
    Rule("M1", True, lambda f: f.manage and f.mine and f.private, "it is your own memory"),
    Rule("M0", False, lambda f: f.manage, "only its owner can manage it, in a private chat"),
    Rule("D1", False, lambda f: not f.live, "it is not active, or has expired"),
    Rule("D2", False, lambda f: f.me is None, "the requester is unknown"),
    Rule("D3", False, lambda f: f.withheld, "it is withheld from a person who is or may be here"),
    Rule("P1", True, lambda f: f.private and f.mine, "the owner asks in private"),
    Rule("D4", False, lambda f: not f.provenance, "the chat it was learned in is unknown"),
    Rule(
        "P2",
        True,
        lambda f: f.private and f.said_by_me and not f.inferred,
        "the person who said it asks in private",
    ),
    Rule("PV", False, lambda f: f.private and f.private_only, "it is private to its owner"),
    Rule(
        "P3a",
        True,
        lambda f: f.private and f.group_learned and f.about_me and f.heard_by_me,
        "it was said in a group about the person who asks, who heard it",
    ),
    Rule(
        "P3b",
        True,
        lambda f: f.private and f.may_leave and f.about_me,
        "it is a lasting, public fact from a group about the person who asks",
    ),
    Rule(
        "P4",
        True,
        lambda f: f.private and f.group_learned and f.heard_by_me and not f.sensitive,
        "the person who asks heard it in a group",
    ),
    Rule("P0", False, lambda f: f.private, "no rule allows this person to see it"),
    Rule("GS", False, lambda f: f.sensitive, "it is sensitive, and others are listening"),
    Rule("GV", False, lambda f: f.private_only, "it is private, and others are listening"),
    Rule(
        "G1a",
        True,
        lambda f: (
            f.in_group
            and f.here
            and f.public
            and all(s in f.heard or s == f.speaker for s in f.subjects & f.audience)
        ),
        "it is public and was said in this very group",
    ),
    Rule(
        "G1b",
        True,
        lambda f: f.in_group and f.here and (f.about_me or f.said_by_me),
        "it was said in this very group, and its subject or speaker asks",
    ),
    Rule(
        "G2a",
        True,
        lambda f: f.public_ok and f.public and f.owner is not None and f.owner in f.audience,
        "its owner is here and lets it be said anywhere",
    ),
    Rule("G2b", True, lambda f: f.public_ok and f.mine, "its owner asks and lets it be said"),
    Rule(
        "G3a",
        True,
        lambda f: f.in_group and f.may_leave and f.about_me and f.subjects <= f.audience,
        "it is a lasting, public fact about the person who asks",
    ),
    Rule(
        "G3b",
        True,
        lambda f: f.in_group and f.may_leave and f.complete and f.audience <= f.heard,
        "everyone here has heard it",
    ),
    Rule("G0", False, _always, "no rule allows this group to see it"),
)

# Decided before the rules: another value of the same key takes precedence for the owner.
OVERRIDDEN = Decision(False, "S0")

RULE_TEXTS = {rule.name: rule.says for rule in RULES} | {
    "S0": "another value of the same key, from another of the owner's identities, replaces it"
}

_DECISIONS = {rule.name: Decision(rule.allows, rule.name) for rule in RULES}


def decide(request: Request, memory: Memory) -> Decision:
    """Decide by the first rule that applies whether the request may see the memory."""
    facts = _derive_facts(request, memory)
    for rule in RULES:
        if rule.applies(facts):
            return _DECISIONS[rule.name]
    raise AssertionError("unreachable: the last rule always applies")


def _derive_facts(request: Request, memory: Memory) -> _Facts:
    person = request.person_by_identity.get
    audience = request.audience
    owner, speaker, place = (
        _parse_name(memory.owner),
        _parse_name(memory.speaker),
        _parse_name(memory.learned_in),
    )
    owner = person(owner, owner) if owner else None
    speaker = person(speaker, speaker) if speaker else None
    subjects = frozenset([person(s, s) for s in _parse_people(memory.subjects)])
    if not subjects:
        subjects = frozenset({speaker}) if speaker else frozenset({owner}) if owner else _NO_PEOPLE

    group_learned = place is not None and memory.learned_kind == ChatKind.GROUP
    private_learned = place is not None and memory.learned_kind == ChatKind.PRIVATE
    inferred = bool(memory.inferred)
    public_ok = memory.visibility == Visibility.PUBLIC_OK
    private_only = (
        inferred
        or bool(memory.withheld_unknown)
        or memory.visibility == Visibility.PRIVATE_ONLY
        or not (public_ok or group_learned)
    )
    withheld_from = _parse_people(memory.withheld_from)
    return _Facts(
        me=request.requester or None,
        audience=audience,
        complete=request.complete,
        private=request.private,
        in_group=request.kind == ChatKind.GROUP,
        manage=request.purpose == Purpose.MANAGE,
        live=memory.state == State.ACTIVE and not _is_expired(memory.expires_at, request.at),
        withheld=bool(withheld_from)
        and (
            (not request.private and not request.complete)
            or not withheld_from.isdisjoint(request.audience_identities)
            or not withheld_from.isdisjoint(audience)
        ),
        owner=owner,
        speaker=speaker,
        subjects=subjects,
        heard=frozenset([person(h, h) for h in _parse_people(memory.heard_by)]),
        inferred=inferred,
        provenance=group_learned or private_learned,
        group_learned=group_learned,
        here=group_learned and place in request.chat_ids,
        confidential=bool(memory.confidential),
        private_only=private_only,
        public_ok=public_ok and not private_only,
        public=memory.sensitivity == Sensitivity.PUBLIC and not inferred,
        sensitive=inferred or memory.sensitivity == Sensitivity.SENSITIVE,
        portable=memory.portable is True,
    )


# `decide` never raises: a field of a wrong type counts as missing.


def _parse_name(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _parse_people(value: object) -> frozenset[str]:
    if type(value) is frozenset and all(type(one) is str for one in value):
        return value
    if not isinstance(value, list | tuple | set | frozenset):
        return _NO_PEOPLE
    return frozenset(one for one in value if isinstance(one, str))


def _is_expired(expires_at: object, at: datetime) -> bool:
    if expires_at is None:
        return False
    readable = isinstance(expires_at, datetime) and expires_at.tzinfo is not None
    return not readable or expires_at <= at  # type: ignore[operator]


def decide_with_precedence(request: Request, memory: Memory) -> Decision:
    """Decide by key precedence first, then by the rules."""
    return OVERRIDDEN if memory.shadowed else decide(request, memory)


def explain_decision(decision: Decision) -> Explanation:
    says = RULE_TEXTS[decision.rule]
    return Explanation(allowed=decision.allowed, rule=decision.rule, says=says)


def preview_decision(memory: Memory, decision: Decision) -> AudiencePreview:
    says = RULE_TEXTS[decision.rule]
    return AudiencePreview(memory=memory, allowed=decision.allowed, rule=decision.rule, says=says)
