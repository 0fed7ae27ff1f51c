"""The command that makes keys for callers from outside, lists them and revokes them."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.records.accounts import Key, Scope
from tacit.surfaces.cli import documents, tables
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import BadUsage
from tacit.surfaces.cli.session import Session

_ACTS = ("create", "list", "revoke")
_SHOWN_ONCE = "this is the only time that the token is shown: keep it where secrets are kept"


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("act", metavar="ACT", choices=_ACTS, help=", ".join(_ACTS))
    add("which", metavar="NAME|ID", nargs="?", help="what to call it; or which one to revoke")
    scopes = ", ".join(Scope)
    add("--scope", metavar="SCOPE", action="append", help=f"{scopes}; may be repeated")
    add("--for", dest="person", metavar="KEY", help="the one person it acts for: telegram:123")
    add("--agent", metavar="TEXT", help="the agent that uses it")
    add(
        "--category",
        metavar="CATEGORY",
        action="append",
        help="it reads and writes nothing else; may be repeated",
    )
    add("--days", type=int, metavar="N", help=f"for how long, at most {limits.API_KEY_MAX_DAYS}")
    add("--rate", type=int, metavar="N", help="at most so many requests in a minute")


def keys(session: Session) -> Answer:
    args = session.args
    if (args.which is None) is not (args.act == "list"):
        raise BadUsage("keys: create takes a name, revoke an id, and list neither")
    if args.act != "create" and any(_described(session)):
        raise BadUsage(f"keys {args.act}: takes no options of a new key")
    if args.act == "create":
        return _create(session)
    return _revoke(session) if args.act == "revoke" else _list(session)


def _described(session: Session) -> tuple[object, ...]:
    args = session.args
    return args.scope, args.person, args.agent, args.category, args.days, args.rate


def _create(session: Session) -> Answer:
    args = session.args
    if not args.scope:
        raise BadUsage(f"keys create: say what it may do, with --scope {'|'.join(Scope)}")
    made = session.memory.create_key(
        args.which,
        scopes=args.scope,
        requester=args.person,
        agent=args.agent,
        categories=args.category,
        expires_days=args.days,
        rate_per_minute=args.rate,
    )
    return Answer(
        document={"key": _document(made.key), "token": made.token},
        lines=[*tables.table([_row(made.key, session.now)]), made.token],
        notes=(_SHOWN_ONCE,),
    )


def _list(session: Session) -> Answer:
    found = session.memory.keys()
    return Answer(
        document={"keys": [_document(one) for one in found]},
        lines=tables.table([_row(one, session.now) for one in found]),
        notes=() if found else ("no keys; `tacit keys create` makes one",),
    )


def _revoke(session: Session) -> Answer:
    id: str = session.args.which
    session.memory.revoke_key(id)
    return Answer(document={"id": id, "done": "revoked"}, lines=[f"revoked  {id}"])


def _row(one: Key, now: datetime) -> tuple[str, ...]:
    scopes = ",".join(scope for scope in Scope if scope in one.scopes)
    return (one.id, scopes, f"for {one.requester or 'nobody'}", _standing(one, now), one.name)


def _standing(one: Key, now: datetime) -> str:
    if one.revoked_at is not None:
        return f"revoked {tables.when(one.revoked_at)}"
    if one.expires_at is None:
        return "holds"
    ended = "until" if one.holds_at(now) else "expired"
    return f"{ended} {tables.when(one.expires_at)}"


def _document(one: Key) -> dict[str, Any]:
    return {name: documents.plain(value) for name, value in asdict(one).items()}
