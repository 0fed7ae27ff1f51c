"""Commands about identities, and about the memory as a whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tacit.records.results import EmbeddingStatus
from tacit.surfaces.cli import documents, files, tables
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.console import Progress
from tacit.surfaces.cli.exits import BadUsage, Exit
from tacit.surfaces.cli.options import FORMS
from tacit.surfaces.cli.session import Session

if TYPE_CHECKING:
    from tacit.memory import Link


def link(session: Session) -> Answer:
    args = session.args
    if (args.account is None) is not args.verify:
        raise BadUsage("link: name an account, or say --verify for a link that waits")
    if args.verify:
        return _link(session.memory.verify_link(args.external_key))
    verified = not args.unverified
    return _link(
        session.memory.link(args.external_key, args.account, verified=verified, actor=session.actor)
    )


def unlink(session: Session) -> Answer:
    args = session.args
    return _link(session.memory.unlink(args.external_key), ended=True)


def merge(session: Session) -> Answer:
    args = session.args
    return _link(session.memory.merge_people(args.person, args.into, actor=session.actor))


def unmerge(session: Session) -> Answer:
    args = session.args
    return _link(session.memory.unmerge_people(args.person), ended=True)


def links(session: Session) -> Answer:
    args = session.args
    found = session.memory.links(args.identity)
    rows = [
        (one.kind.value, one.source, one.target, _standing(one), tables.when(one.created_at))
        for one in found
    ]
    return Answer(
        document={"links": [documents.link(one) for one in found]},
        lines=tables.table(rows),
        notes=() if found else ("no links",),
    )


def _link(one: Link, *, ended: bool = False) -> Answer:
    standing = "ended" if ended else _standing(one)
    return Answer(
        document={"link": documents.link(one)},
        lines=[f"{one.kind}  {one.source} -> {one.target}  {standing}"],
    )


def _standing(one: Link) -> str:
    if one.ended_at is not None:
        return "ended"
    return "holds" if one.holds else "waits for --verify"


def import_(session: Session) -> Answer:
    args = session.args
    view = session.require_private_view("import")
    with files.opened(args.file) as source:
        done = view.import_lines(files.lines(source))
    nothing_of_ours = done.refused and not done.created and not done.skipped
    hint = (f"if another memory wrote it, say which: --from {'|'.join(FORMS)}",)
    told = f"imported  {done.created} new, {done.skipped} already here, {len(done.refused)} refused"
    return Answer(
        document={"created": done.created, "skipped": done.skipped, "refused": list(done.refused)},
        lines=[told],
        notes=(*done.refused, *(hint if nothing_of_ours else ())),
        exit=Exit.ABSENT if done.refused else Exit.OK,
    )


def spaces(session: Session) -> Answer:
    names = session.memory.spaces()
    return Answer(
        document={"spaces": names}, lines=names, notes=() if names else ("no spaces yet",)
    )


def maintain(session: Session) -> Answer:
    done = session.memory.maintain(rewrite=session.args.rewrite)
    verdict = "healthy" if done.healthy else "trouble"
    return Answer(
        document={
            "healthy": done.healthy,
            "problems": list(done.problems),
            "did": list(done.did),
            "pending": list(done.pending),
        },
        lines=[f"{verdict}  {', '.join(done.did)}", *(f"  {p}" for p in done.problems)],
        notes=tuple(f"pending: {one}" for one in done.pending),
        exit=Exit.OK if done.healthy else Exit.STORE,
    )


def embedding(session: Session) -> Answer:
    found = session.memory.embedding()
    return Answer(document=documents.embedding(found), lines=_vectors(found))


def reembed(session: Session) -> Answer:
    memory = session.memory
    with Progress("vectors made", quiet=session.args.json) as progress:
        made = memory.reembed(progress)
    found = memory.embedding()
    return Answer(
        document={"made": made, **documents.embedding(found)},
        lines=[f"made  {made}", *_vectors(found)],
    )


def _vectors(found: EmbeddingStatus) -> list[str]:
    if found.model is None:
        return ["no model: recall goes by words alone"]
    going = ", more are being made" if found.running and not found.complete else ""
    size = f"{found.dimension} numbers each" if found.dimension else "length not known yet"
    return [f"{found.model}  {size}  {found.done} of {found.total} memories{going}"]


def demo(session: Session) -> Answer:
    args = session.args
    given = [
        name
        for name in ("requester", "chat", "config", "db", "space")
        if getattr(args, name) is not None
    ]
    if given:
        named = {"requester": "as"}.get(given[0], given[0])
        raise BadUsage(f"demo: plays on a database of its own; leave out --{named}")
    from tacit.surfaces import demo as story

    told = story.play()
    return Answer(document=asdict(told), lines=story.lines(told))
