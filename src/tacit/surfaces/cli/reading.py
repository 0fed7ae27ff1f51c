"""Commands that read: get, show, list, about, history, explain, delta, people, stats."""

from __future__ import annotations

import json
from dataclasses import asdict

from tacit import Requester
from tacit.errors import NotFound
from tacit.records.memory import Memory
from tacit.records.results import Page, Stats
from tacit.records.text import show_with_key
from tacit.surfaces.cli import documents, rooms, tables
from tacit.surfaces.cli.answers import NOTHING, Answer
from tacit.surfaces.cli.session import Session


def get(session: Session) -> Answer:
    args = session.args
    memory = session.view.get(args.category, args.key)
    if memory is None:
        raise NotFound("value")
    lines = tables.paragraph(memory.content, indent="")
    return Answer(document={"memory": documents.memory(memory)}, lines=lines)


def show(session: Session) -> Answer:
    args = session.args
    view = session.view
    memory = view.show(args.id)
    document = {"memory": documents.memory(memory)}
    try:
        view.explain(args.id)  # answers owners only, and in private only
        document["owners"] = documents.owners(memory)
        own = True
    except NotFound:
        own = False
    return Answer(document=document, lines=_shown(memory, own=own))


def _shown(memory: Memory, *, own: bool) -> list[str]:
    head = f"{memory.id}  {tables.filed(memory)}  {memory.kind}, version {memory.version}"
    pairs = [
        ("state", memory.state.value),
        ("visibility", memory.visibility.value),
        ("sensitivity", memory.sensitivity.value),
        ("trust", memory.trust.value),
        ("importance", str(memory.importance)),
        ("confidence", "" if memory.confidence is None else str(memory.confidence)),
        ("pinned", "yes" if memory.pinned else ""),
        ("tags", ", ".join(memory.tags)),
        ("data", "" if memory.data is None else json.dumps(memory.data, ensure_ascii=False)),
        ("owner", memory.owner or ""),
        ("speaker", memory.speaker or ""),
        ("about", ", ".join(sorted(memory.subjects))),
        ("created", tables.when(memory.created_at)),
        ("updated", tables.when(memory.updated_at)),
        ("expires", tables.when(memory.expires_at)),
    ]
    if own:
        pairs += [
            ("learned in", memory.learned_in or ""),
            ("heard by", ", ".join(sorted(memory.heard_by))),
            ("withheld from", ", ".join(sorted(memory.withheld_from))),
            ("portable", "yes" if memory.portable else "no"),
            ("purged after", tables.when(memory.purge_at)),
            ("replaced by", memory.superseded_by or ""),
        ]
    return [head, *tables.paragraph(memory.content, "  | "), *tables.fields(pairs)]


def list_(session: Session) -> Answer:
    args = session.args
    page = session.view.list(
        args.category,
        prefix=args.prefix,
        kind=args.kind,
        state=args.state,
        pinned=args.pinned,
        limit=args.limit,
        cursor=args.cursor,
    )
    return _page(page, session)


def about(session: Session) -> Answer:
    args = session.args
    return _page(session.view.about(args.person, limit=args.limit, cursor=args.cursor), session)


def _page(page: Page[Memory], session: Session) -> Answer:
    notes = [] if page.items else [NOTHING]
    if page.cursor is not None:
        notes.append(f"there is more: say the same again with --cursor {page.cursor}")
    return Answer(
        document={"memories": [documents.memory(m) for m in page], "cursor": page.cursor},
        lines=tables.memories(page, session.now),
        notes=tuple(notes),
    )


def history(session: Session) -> Answer:
    args = session.args
    entries = session.view.history(args.id)
    rows = [
        (
            tables.when(e.at),
            e.event.value,
            f"v{e.version}",
            e.actor,
            " ".join(f"{name}={value}" for name, value in sorted(e.detail.items())),
            e.content or "",
        )
        for e in entries
    ]
    document = {"history": [documents.event(entry) for entry in entries]}
    return Answer(document=document, lines=tables.table(rows))


def explain(session: Session) -> Answer:
    """The owner asks in private; `--chat` and `--asked-by` say where it would be said, to whom."""
    args = session.args
    me = session.requester
    other = None if args.asked_by is None else Requester(args.asked_by)
    chat = rooms.chat(args, other or me, also=me if other else None)
    explained = session.private_view.explain(args.id, chat, other)
    verdict = "said" if explained.allowed else "withheld"
    return Answer(
        document=asdict(explained),
        lines=[f"{verdict}  {explained.rule}: {explained.says}"],
    )


def delta(session: Session) -> Answer:
    args = session.args
    found = session.view.delta(args.since)
    rows = [
        (
            str(c.revision),
            c.event,
            c.memory_id,
            c.category or "",
            show_with_key(c.key, c.content or ""),
        )
        for c in found.changes
    ]
    return Answer(
        document={
            "revision": found.revision,
            "changes": [documents.change(c) for c in found.changes],
        },
        lines=[f"revision {found.revision}", *tables.table(rows)],
    )


def people(session: Session) -> Answer:
    known = session.view.people()
    rows = [
        (
            person.id,
            ", ".join(sorted(person.identities - {person.id})),
            ", ".join(f"{name.text} ({name.kind})" for name in person.names),
        )
        for person in known
    ]
    return Answer(
        document={"people": [documents.person(person) for person in known]},
        lines=tables.table(rows),
        notes=() if known else ("nobody is known here",),
    )


def stats(session: Session) -> Answer:
    args = session.args
    counted = session.memory.stats() if args.whole_space else session.view.stats()
    return Answer(document=asdict(counted), lines=_counted(counted))


def _counted(counted: Stats) -> list[str]:
    by = (("state", counted.by_state), ("kind", counted.by_kind), ("filed", counted.by_category))
    rows = [
        (title if n == 0 else "", name, str(count))
        for title, counts in by
        for n, (name, count) in enumerate(sorted(counts.items()))
    ]
    return [f"{counted.memories} memories", *tables.table(rows)]
