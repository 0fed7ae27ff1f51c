"""Commands that change memories."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from tacit.errors import InvalidInput
from tacit.records.results import Remembered
from tacit.surfaces.cli import documents, files, turns
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import BadUsage
from tacit.surfaces.cli.session import Session, text_of

# As they are called on the command line and by `View.remember`, alike.
FIELDS = (
    "kind", "category", "about", "withheld_from", "visibility", "sensitivity", "portable",
    "importance", "confidence", "pinned", "tags", "message", "agent", "run", "role", "key",
    "for_room", "turns",
)  # fmt: skip
TIMES = ("observed_at", "expires_at")


def remember(session: Session) -> Answer:
    args = session.args
    done = session.view.remember(text_of(args.content) or "", **_given(args))
    return _wrote(done, "remembered")


def put(session: Session) -> Answer:
    args = session.args
    named = _given(args)
    category, key = named.pop("category"), named.pop("key")
    done = session.view.put(category, key, text_of(args.value) or "", **named)
    return _wrote(done, f"put {category}/{key}")


def update(session: Session) -> Answer:
    args = session.args
    named = _given(args)
    content = text_of(args.content)
    if content is None and not named:
        raise BadUsage("update: say what to change: other words, or a field such as --kind")
    done = session.view.update(args.id, content, if_version=args.if_version, **named)
    return _wrote(done, "updated")


def _given(args: Namespace) -> dict[str, Any]:
    """The fields that were named; the rest is for the memory to settle."""
    named = {name: getattr(args, name, None) for name in FIELDS}
    named["data"] = _data(args)
    named |= {name: turns.moment(name, getattr(args, name, None)) for name in TIMES}
    return {name: value for name, value in named.items() if value is not None}


def _data(args: Namespace) -> object:
    given = getattr(args, "data", None)
    if given is None:
        return None
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("data", 'is no JSON object; write for example {"unit": "kg"}')
    return found


def _wrote(done: Remembered, act: str) -> Answer:
    told = f"{act}  {done.id}  version {done.version}"
    if done.supersedes:
        told += f", in place of {done.supersedes}"
    return Answer(document=documents.remembered(done), lines=[told])


def record(session: Session) -> Answer:
    args = session.args
    view = session.view
    with files.opened(args.file) as source:
        said = turns.parse(files.lines(source))
    done = view.record(said, session=args.session)
    count = len(done.ids)
    return Answer(
        document={"ids": list(done.ids)},
        lines=[f"recorded  {count} {'turn' if count == 1 else 'turns'}"],
    )


def relate(session: Session) -> Answer:
    args = session.args
    session.view.relate(args.id, args.other, args.relation, strength=args.strength)
    return Answer(
        document={
            "id": args.id,
            "done": "related",
            "other": args.other,
            "relation": args.relation,
            "strength": args.strength,
        },
        lines=[f"related  {args.id} to {args.other}  {args.relation}"],
    )


def forget(session: Session) -> Answer:
    args = session.args
    one_way(args, "forget", "id", "category", "subject")
    if args.key is not None and args.category is None:
        raise BadUsage("forget: --key needs --category")
    if args.id is not None:
        session.view.forget(args.id)
        return _done(args.id, "forgotten", "; restore it within 30 days")
    if args.subject is not None:
        count = session.memory.forget_subject(args.subject)
    elif args.key is not None:
        count = session.view.forget_key(args.category, args.key)
    else:
        count = session.view.forget_category(args.category)
    return Answer(
        document={"done": "forgotten", "count": count},
        lines=[f"forgotten  {_memories(count)}; restore them within 30 days"],
    )


def restore(session: Session) -> Answer:
    args = session.args
    session.view.restore(args.id)
    return _done(args.id, "restored")


def visibility(session: Session) -> Answer:
    args = session.args
    session.view.set_visibility(args.id, args.visibility)
    return Answer(
        document={"id": args.id, "done": "visibility", "visibility": args.visibility},
        lines=[f"visibility  {args.id} is {args.visibility}"],
    )


def withhold(session: Session) -> Answer:
    args = session.args
    session.view.withhold_from(args.id, args.who)
    return _done(args.id, "withheld", f" from {', '.join(args.who)}")


def pin(session: Session) -> Answer:
    args = session.args
    session.view.pin(args.id, not args.off)
    return _done(args.id, "unpinned" if args.off else "pinned")


def name(session: Session) -> Answer:
    args = session.args
    person = session.view.name(args.person, args.called, args.kind)
    names = ", ".join(f"{one.text} ({one.kind})" for one in person.names)
    return Answer(
        document={"person": documents.person(person)}, lines=[f"named  {person.id}  {names}"]
    )


def _done(id: str, done: str, more: str = "") -> Answer:
    return Answer(document={"id": id, "done": done}, lines=[f"{done}  {id}{more}"])


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def one_way(args: Namespace, command: str, *ways: str) -> None:
    """Exactly one of the ways to say what is meant."""
    if sum(getattr(args, way) not in (None, False) for way in ways) != 1:
        spelled = ("ID" if way == "id" else "--" + way.replace("_", "-") for way in ways)
        raise BadUsage(f"{command}: name one of {', '.join(spelled)}")
