"""Commands that write, read and recall memories."""

from __future__ import annotations

import json
from argparse import BooleanOptionalAction, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tacit import Requester, limits
from tacit.cli import inputs
from tacit.cli.arguments import (
    BY,
    CATEGORY,
    CURSOR,
    FIELD_ARGUMENTS,
    ID,
    LIMIT,
    OPTIONAL_ID,
    PERSON,
    PERSON_HELP,
    SUBJECT,
    WRITE_ARGUMENTS,
    Argument,
    OneOf,
    arg,
    command,
    flag,
)
from tacit.cli.output import (
    NOTHING_FOUND,
    BadUsage,
    CommandResult,
    StreamedResult,
    format_category,
    format_count,
    format_fields,
    format_memories,
    format_memory_count,
    format_table,
    format_time,
    indent_text,
    memory_document,
    more_notes,
    owner_document,
    record_document,
    to_json,
)
from tacit.cli.session import CommandSession, read_text_argument
from tacit.errors import InvalidInput, NotFound
from tacit.records import validation
from tacit.records.accounts import NameKind
from tacit.records.memory import Kind, Memory, State, Visibility
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS
from tacit.records.results import Bullet, Page, Recalled, Remembered, Stats
from tacit.records.text import show_with_key

# Fields that the command line and `View.remember` give the same name.
_FIELDS = (
    "kind", "category", "about", "withheld_from", "visibility", "sensitivity", "portable",
    "importance", "confidence", "pinned", "tags", "message", "agent", "run", "role", "key",
    "for_room", "turns",
)  # fmt: skip
_TIME_FIELDS = ("observed_at", "expires_at")
# Filters that the command line and `View.recall` give the same name.
_FILTERS = (
    "categories", "kinds", "user", "agent", "run", "actor", "role", "pinned", "importance_min",
    "importance_max", "threshold", "include",
)  # fmt: skip
_TIME_FILTERS = ("updated_after", "updated_before", "as_of")

_CATEGORY_AND_KEY = (arg("category", metavar="CATEGORY"), arg("key", metavar="KEY"))
_DATE = "such as 2026-03-01 or 2026-03-01T12:00Z"


def _question(count: int) -> tuple[Argument, Argument]:
    return (
        arg("query", metavar="QUESTION", help="question in plain words"),
        arg(
            "--top-k",
            type=int,
            metavar="N",
            default=count,
            help="maximum number of results (default %(default)s)",
        ),
    )


def _budget(tokens: int | None = None) -> Argument:
    shown = " (default %(default)s)" if tokens is not None else ""
    return arg(
        "--budget-tokens",
        type=int,
        metavar="N",
        default=tokens,
        help=f"maximum tokens in a prompt{shown}",
    )


_FILTER_ARGUMENTS = (
    arg(
        "--category",
        "--namespace",
        dest="categories",
        action="append",
        metavar="CATEGORY",
        help="only this category; repeatable",
    ),
    arg(
        "--kind",
        dest="kinds",
        action="append",
        metavar="KIND",
        help=f"only this kind; repeatable: {', '.join(Kind)}",
    ),
    arg("--user", metavar="PERSON", help="only memories that belong to this person"),
    arg("--actor", metavar="PERSON", help="only what this person said"),
    arg("--agent", metavar="TEXT", help="only memories that this agent wrote"),
    arg("--run", metavar="TEXT", help="only memories written in this run"),
    arg("--role", metavar="TEXT", help="only what was said in this role"),
    arg("--pinned", action="store_const", const=True, help="only pinned memories"),
    arg(
        "--no-pinned",
        "--not-pinned",
        dest="pinned",
        action="store_const",
        const=False,
        help="only memories that are not pinned",
    ),
    arg("--importance-min", type=int, metavar="N", help="1 to 5"),
    arg("--importance-max", type=int, metavar="N", help="1 to 5"),
    arg("--updated-after", metavar="DATE", help=_DATE),
    arg("--updated-before", metavar="DATE", help=_DATE),
    arg("--as-of", metavar="DATE", help="answer with what was known at this time"),
    arg("--threshold", type=float, metavar="X", help="minimum similarity, 0 to 1"),
    OneOf(
        (
            arg(
                "--turns",
                dest="include",
                action="store_const",
                const=(INCLUDE_MEMORIES, INCLUDE_TURNS),
                help="also search recorded turns",
            ),
            arg(
                "--only-turns",
                dest="include",
                action="store_const",
                const=(INCLUDE_TURNS,),
                help="search recorded turns only",
            ),
        )
    ),
)


# Writing.


@command(
    "remember",
    arg("content", metavar="TEXT", help="what to remember; - reads stdin"),
    CATEGORY,
    arg("--key", help="key within the category, which has one value"),
    *WRITE_ARGUMENTS,
    *FIELD_ARGUMENTS,
)
def remember(session: CommandSession) -> CommandResult:
    """Store a fact."""
    args = session.args
    done = session.view.remember(read_text_argument(args.content) or "", **_given_fields(args))
    return _write_result(done, "remembered")


@command(
    "put",
    *_CATEGORY_AND_KEY,
    arg("value", metavar="VALUE", help="the value; - reads stdin"),
    *WRITE_ARGUMENTS,
    *FIELD_ARGUMENTS,
)
def put(session: CommandSession) -> CommandResult:
    """Set the value of a key."""
    given = _given_fields(session.args)
    category, key = given.pop("category"), given.pop("key")
    done = session.view.put(category, key, read_text_argument(session.args.value) or "", **given)
    return _write_result(done, f"put {category}/{key}")


@command(
    "update",
    ID,
    arg("content", metavar="TEXT", nargs="?", help="new text; - reads stdin"),
    arg("--if-version", type=int, metavar="N", help="only if this is the current version"),
    CATEGORY,
    *FIELD_ARGUMENTS,
)
def update(session: CommandSession) -> CommandResult:
    """Change a memory."""
    args, given = session.args, _given_fields(session.args)
    content = read_text_argument(args.content)
    if content is None and not given:
        raise BadUsage("update: specify what to change: a new text, or a field such as --kind")
    done = session.view.update(args.id, content, if_version=args.if_version, **given)
    return _write_result(done, "updated")


def _given_fields(args: Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name, None) for name in _FIELDS}
    given["data"] = _parse_data(getattr(args, "data", None))
    for name in _TIME_FIELDS:
        given[name] = inputs.parse_zoned_time(name, getattr(args, name, None))
    return {name: value for name, value in given.items() if value is not None}


def _parse_data(text: str | None) -> object:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("data", 'is not a JSON object; write for example {"unit": "kg"}')
    return found


def _write_result(done: Remembered, what: str) -> CommandResult:
    replaced = f", in place of {done.supersedes}" if done.supersedes else ""
    line = f"{what}  {done.id}  version {done.version}{replaced}"
    return CommandResult(document=record_document(done), lines=[line])


@command(
    "record",
    arg("file", metavar="FILE", help="JSON lines; - reads stdin"),
    arg("--session", metavar="NAME", help="the conversation (default: thread and day)"),
)
def record(session: CommandSession) -> CommandResult:
    """Store turns of a conversation word for word."""
    args, view = session.args, session.view
    with inputs.open_input(args.file) as source:
        turns = inputs.parse_turns(inputs.read_lines(source))
    done = view.record(turns, session=args.session)
    line = f"recorded  {format_count(len(done.ids), 'turn')}"
    return CommandResult(document={"ids": list(done.ids)}, lines=[line])


@command(
    "relate",
    ID,
    arg("other", metavar="OTHER", help="another memory of yours"),
    arg(
        "--relation",
        metavar="WORD",
        default="related_to",
        help="kind of relation (default %(default)s)",
    ),
    arg("--strength", type=float, metavar="X", default=1.0, help="0 to 1 (default %(default)s)"),
)
def relate(session: CommandSession) -> CommandResult:
    """Relate two memories."""
    args = session.args
    session.view.relate(args.id, args.other, args.relation, strength=args.strength)
    return CommandResult(
        document={
            "id": args.id,
            "done": "related",
            "other": args.other,
            "relation": args.relation,
            "strength": args.strength,
        },
        lines=[f"related  {args.id} to {args.other}  {args.relation}"],
    )


@command(
    "forget",
    OPTIONAL_ID,
    arg("--category", "--namespace", metavar="CATEGORY", help="all your memories in it"),
    arg("--key", help="with --category: only the value of this key"),
    SUBJECT,
)
def forget(session: CommandSession) -> CommandResult:
    """Forget memories; they can be restored for 30 days."""
    args = session.args
    require_one_of(args, "forget", "id", "category", "subject")
    if args.key is not None and args.category is None:
        raise BadUsage("forget: --key requires --category")
    if args.id is not None:
        session.view.forget(args.id)
        return done_result(args.id, "forgotten", "; restore it within 30 days")
    if args.subject is not None:
        count = session.memory.admin.forget_person(args.subject)
    elif args.key is not None:
        count = session.view.forget_key(args.category, args.key)
    else:
        count = session.view.forget_category(args.category)
    return CommandResult(
        document={"done": "forgotten", "count": count},
        lines=[f"forgotten  {format_memory_count(count)}; restore them within 30 days"],
    )


@command("visibility", ID, arg("visibility", metavar="VISIBILITY", help=", ".join(Visibility)))
def visibility(session: CommandSession) -> CommandResult:
    """Set where a memory may be shown."""
    args = session.args
    session.view.set_visibility(args.id, args.visibility)
    return CommandResult(
        document={"id": args.id, "done": "visibility", "visibility": args.visibility},
        lines=[f"visibility  {args.id} is {args.visibility}"],
    )


@command("withhold", ID, arg("who", metavar="PERSON", nargs="+", help=PERSON_HELP))
def withhold(session: CommandSession) -> CommandResult:
    """Withhold a memory from people."""
    args = session.args
    session.view.withhold_from(args.id, args.who)
    return done_result(args.id, "withheld", f" from {', '.join(args.who)}")


@command("pin", ID, flag("--off", "unpin it"))
def pin(session: CommandSession) -> CommandResult:
    """Pin a memory, so that it never fades."""
    args = session.args
    session.view.pin(args.id, not args.off)
    return done_result(args.id, "unpinned" if args.off else "pinned")


@command(
    "name",
    PERSON,
    arg("called", metavar="NAME", help="what you call them"),
    arg("--kind", metavar="KIND", default=NameKind.ALIAS.value, help=", ".join(NameKind)),
)
def name(session: CommandSession) -> CommandResult:
    """Name a person."""
    args = session.args
    person = session.view.people.name(args.person, args.called, args.kind)
    names = ", ".join(f"{one.text} ({one.kind})" for one in person.names)
    return CommandResult(
        document={"person": record_document(person)}, lines=[f"named  {person.id}  {names}"]
    )


def done_result(id: str, done: str, more: str = "") -> CommandResult:
    return CommandResult(document={"id": id, "done": done}, lines=[f"{done}  {id}{more}"])


def require_one_of(args: Namespace, command: str, *ways: str) -> None:
    """Require exactly one of these arguments."""
    if sum(getattr(args, way) not in (None, False) for way in ways) != 1:
        spelled = ("ID" if way == "id" else "--" + way.replace("_", "-") for way in ways)
        raise BadUsage(f"{command}: specify exactly one of {', '.join(spelled)}")


# Reading.


@command("get", *_CATEGORY_AND_KEY)
def get(session: CommandSession) -> CommandResult:
    """Print the value of a key."""
    memory = session.view.get(session.args.category, session.args.key)
    if memory is None:
        raise NotFound("value")
    lines = indent_text(memory.content, indent="")
    return CommandResult(document={"memory": memory_document(memory)}, lines=lines)


@command("show", ID)
def show(session: CommandSession) -> CommandResult:
    """Show one memory."""
    id, view = session.args.id, session.view
    memory = view.show(id)
    document = {"memory": memory_document(memory)}
    try:
        view.explain(id)  # only the owner gets an answer, in private
        document["owners"] = owner_document(memory)
    except NotFound:
        pass
    return CommandResult(document=document, lines=_memory_lines(memory, own="owners" in document))


def _memory_lines(memory: Memory, *, own: bool) -> list[str]:
    head = f"{memory.id}  {format_category(memory)}  {memory.kind}, version {memory.version}"
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
        ("created", format_time(memory.created_at)),
        ("updated", format_time(memory.updated_at)),
        ("expires", format_time(memory.expires_at)),
    ]
    if own:
        pairs += [
            ("learned in", memory.learned_in or ""),
            ("heard by", ", ".join(sorted(memory.heard_by))),
            ("withheld from", ", ".join(sorted(memory.withheld_from))),
            ("portable", "yes" if memory.portable else "no"),
            ("purged after", format_time(memory.purge_at)),
            ("replaced by", memory.superseded_by or ""),
        ]
    return [head, *indent_text(memory.content, "  | "), *format_fields(pairs)]


@command(
    "list",
    arg("category", metavar="CATEGORY", nargs="?", help="only this category"),
    arg("--prefix", metavar="TEXT", help="only keys with this prefix"),
    arg("--kind", metavar="KIND", help=f"only this kind: {', '.join(Kind)}"),
    arg(
        "--state",
        metavar="STATE",
        help=f"only your own in this state, in private: {', '.join(State)}",
    ),
    arg("--pinned", action=BooleanOptionalAction, help="only pinned memories, or only others"),
    LIMIT,
    CURSOR,
)
def list_(session: CommandSession) -> CommandResult:
    """List memories visible in this chat, newest first."""
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
    return _page_result(page, session)


@command("about", PERSON, LIMIT, CURSOR)
def about(session: CommandSession) -> CommandResult:
    """List memories about a person visible in this chat."""
    args = session.args
    page = session.view.people.about(args.person, limit=args.limit, cursor=args.cursor)
    return _page_result(page, session)


def _page_result(page: Page[Memory], session: CommandSession) -> CommandResult:
    return CommandResult(
        document={"memories": to_json(page.items), "cursor": page.cursor},
        lines=format_memories(page, session.now),
        notes=(*(() if page.items else (NOTHING_FOUND,)), *more_notes(page.cursor)),
    )


@command(
    "history",
    OPTIONAL_ID,
    flag("--export", "print the history of every memory visible here, as JSON lines"),
)
def history(session: CommandSession) -> CommandResult | StreamedResult:
    """Show the history of a memory."""
    args = session.args
    if (args.id is None) is not args.export:
        raise BadUsage("history: specify the ID of a memory, or --export")
    if args.export:
        return StreamedResult(lines=session.view.audit.export_history())
    entries = session.view.history(args.id)
    rows = [
        (
            format_time(one.at),
            one.event.value,
            f"v{one.version}",
            one.actor,
            " ".join(f"{name}={value}" for name, value in sorted(one.detail.items())),
            one.content or "",
        )
        for one in entries
    ]
    return CommandResult(document={"history": to_json(entries)}, lines=format_table(rows))


@command(
    "explain",
    ID,
    arg("--asked-by", metavar="KEY", help="another person who would ask in that --chat"),
)
def explain(session: CommandSession) -> CommandResult:
    """Show which rule lets a memory be disclosed, or withholds it."""
    # The owner asks in private; --chat and --asked-by describe the situation in question.
    args, owner = session.args, session.requester
    other = None if args.asked_by is None else Requester(args.asked_by)
    chat = inputs.parse_chat(args, other or owner, also=owner if other else None)
    found = session.private_view.explain(args.id, chat, other)
    verdict = "said" if found.allowed else "withheld"
    return CommandResult(document=asdict(found), lines=[f"{verdict}  {found.rule}: {found.says}"])


@command(
    "delta",
    arg("--since", type=int, metavar="REVISION", default=0, help="changes after this revision"),
)
def delta(session: CommandSession) -> CommandResult:
    """Show what changed in a thread since a revision."""
    found = session.view.delta(session.args.since)
    rows = [
        (
            str(one.revision),
            one.event,
            one.memory_id,
            one.category or "",
            show_with_key(one.key, one.content or ""),
        )
        for one in found.changes
    ]
    return CommandResult(
        document=record_document(found),
        lines=[f"revision {found.revision}", *format_table(rows)],
    )


@command("people")
def people(session: CommandSession) -> CommandResult:
    """List the people you know in this chat."""
    known = session.view.people.list()
    rows = [
        (
            person.id,
            ", ".join(sorted(person.identities - {person.id})),
            ", ".join(f"{name.text} ({name.kind})" for name in person.names),
        )
        for person in known
    ]
    return CommandResult(
        document={"people": to_json(known)},
        lines=format_table(rows),
        notes=() if known else ("No people found.",),
    )


@command("stats", flag("--whole-space", "as an operator: all memories of the space"))
def stats(session: CommandSession) -> CommandResult:
    """Count your memories."""
    whole = session.args.whole_space
    counted = session.memory.admin.stats() if whole else session.view.stats()
    return CommandResult(document=asdict(counted), lines=_stats_lines(counted))


def _stats_lines(counted: Stats) -> list[str]:
    by = (("state", counted.by_state), ("kind", counted.by_kind), ("filed", counted.by_category))
    rows = [
        (title if n == 0 else "", name, str(count))
        for title, counts in by
        for n, (name, count) in enumerate(sorted(counts.items()))
    ]
    return [f"{counted.memories} memories", *format_table(rows)]


# Recalling.


def _given_filters(args: Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in _FILTERS}
    for name in _TIME_FILTERS:
        text = getattr(args, name)
        given[name] = None if text is None else validation.parse_iso_datetime(name, text)
    return {name: value for name, value in given.items() if value is not None}


@command(
    "recall",
    *_question(limits.RECALL_DEFAULT_COUNT),
    _budget(),
    flag("--why", "show the signals of each result"),
    *_FILTER_ARGUMENTS,
    BY,
)
def recall(session: CommandSession) -> CommandResult:
    """Find memories that answer a question."""
    args = session.args
    found = session.view.recall(
        args.query, top_k=args.top_k, budget_tokens=args.budget_tokens, **_given_filters(args)
    )
    rows = [
        (
            one.memory.id,
            f"{one.score:.2f}",
            one.rule,
            format_category(one.memory),
            _memory_text(one.memory),
        )
        for one in found
    ]
    lines = format_table(rows)
    return CommandResult(
        document={"recalled": to_json(found)},
        lines=list(_add_reasons(lines, found)) if args.why else lines,
        notes=() if found else (NOTHING_FOUND,),
    )


def _add_reasons(lines: Sequence[str], found: Sequence[Recalled]) -> Iterator[str]:
    for line, one in zip(lines, found, strict=True):
        raised = [f"{name} {value:.2f}" for name, value in asdict(one.signals).items() if value]
        yield line
        yield f"  {one.why}"
        yield f"  {', '.join([f'similarity {one.similarity:.2f}', *raised])}"
        yield from format_table(
            [("  related", other.id, _memory_text(other)) for other in one.related]
        )


def _memory_text(memory: Memory) -> str:
    """Quote a turn of a conversation with its time and speaker."""
    if not memory.is_turn:
        return show_with_key(memory.key, memory.content)
    who = memory.name or memory.role or ""
    return f"{format_time(memory.observed_at)}, {who}: {memory.content}"


@command(
    "query",
    *_question(limits.QUERY_DEFAULT_COUNT),
    _budget(),
    flag("--full", "show IDs, scores and rules"),
    *_FILTER_ARGUMENTS,
    BY,
)
def query(session: CommandSession) -> CommandResult:
    """Answer a question with bullets for a prompt."""
    args = session.args
    filters = _given_filters(args)
    found = session.view.query(
        args.query,
        categories=filters.pop("categories", None),
        threshold=filters.pop("threshold", None),
        filters=filters,
        top_k=args.top_k,
        form="full" if args.full else "bullets",
        budget_tokens=args.budget_tokens,
    )
    return CommandResult(
        document={"bullets": to_json(found)},
        lines=_full_lines(found) if args.full else [f"- {_bullet_text(one)}" for one in found],
        notes=() if found else (NOTHING_FOUND,),
    )


def _full_lines(found: Sequence[Bullet]) -> list[str]:
    rows = []
    for one in found:
        score, rule = ("", "")
        if one.recalled:
            score, rule = f"{one.recalled.score:.2f}", one.recalled.rule
        rows.append((one.id, score, rule, _bullet_text(one)))
    return format_table(rows)


def _bullet_text(one: Bullet) -> str:
    return f"↳ {one.text}" if one.related else one.text


@command("block", arg("--style", metavar="STYLE", help="memory, filtered or summary"), BY)
def block(session: CommandSession) -> CommandResult:
    """Print the memory block for the start of a prompt."""
    made = session.view.block(session.args.style)
    cut = tuple(f"{count} more in {name} did not fit" for name, count in sorted(made.cut.items()))
    return CommandResult(
        document=record_document(made),
        lines=_text_lines(made.text),
        notes=cut if made.text else (NOTHING_FOUND, *cut),
    )


@command(
    "fresh",
    *_question(limits.RECALL_DEFAULT_COUNT),
    _budget(limits.FRESH_BUDGET_TOKENS),
    arg(
        "--since",
        type=int,
        metavar="REVISION",
        help="changes after this revision (default: that of the block)",
    ),
    BY,
)
def fresh(session: CommandSession) -> CommandResult:
    """Print the fresh context for the end of a prompt."""
    args = session.args
    made = session.view.fresh(
        args.query, since=args.since, top_k=args.top_k, budget_tokens=args.budget_tokens
    )
    return CommandResult(
        document=record_document(made),
        lines=_text_lines(made.text),
        notes=() if made.text else (NOTHING_FOUND,),
    )


def _text_lines(text: str) -> list[str]:
    return indent_text(text.removesuffix("\n"), indent="") if text else []
