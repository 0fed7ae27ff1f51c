"""Commands that write, read and recall memories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from tacit import Requester, limits
from tacit.cli import arguments as a
from tacit.cli import inputs
from tacit.cli import output as out
from tacit.cli.arguments import arg, command, flag, many
from tacit.cli.output import NOTHING_FOUND, BadUsage, CommandResult, StreamedResult, to_json
from tacit.cli.session import CommandSession
from tacit.clock import system_clock
from tacit.errors import NotFound
from tacit.records.accounts import NameKind
from tacit.records.memory import Kind, Memory, State, Visibility
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS
from tacit.records.results import Block, Bullet, Fresh, Page, Recalled, Remembered
from tacit.text import show_with_key

_CATEGORY_AND_KEY = (arg("category", "CATEGORY"), arg("key", "KEY"))
_DATE = "such as 2026-03-01 or 2026-03-01T12:00Z"
_FILTERS = (
    many("--category --namespace", "CATEGORY", "only this category; repeatable", dest="categories"),
    many("--kind", "KIND", f"only this kind; repeatable: {', '.join(Kind)}", dest="kinds"),
    arg("--user", "PERSON", "only memories that belong to this person"),
    arg("--actor", "PERSON", "only what this person said"),
    arg("--agent", "TEXT", "only memories that this agent wrote"),
    arg("--run", "TEXT", "only memories written in this run"),
    arg("--role", "TEXT", "only what was said in this role"),
    flag("--pinned", "only pinned memories", default=None),
    flag(
        "--no-pinned --not-pinned",
        "only memories that are not pinned",
        dest="pinned",
        action="store_false",
        default=None,
    ),
    arg("--importance-min", "N", "1 to 5", type=int),
    arg("--importance-max", "N", "1 to 5", type=int),
    arg("--updated-after", "DATE", _DATE),
    arg("--updated-before", "DATE", _DATE),
    arg("--as-of", "DATE", "answer with what was known at this time"),
    arg("--threshold", "X", "minimum similarity, 0 to 1", type=float),
    a.one_of(
        arg(
            "--turns",
            does="also search turns, whatever the filters are on",
            dest="include",
            action="store_const",
            const=(INCLUDE_MEMORIES, INCLUDE_TURNS),
        ),
        arg(
            "--no-turns",
            does="search memories only",
            dest="include",
            action="store_const",
            const=(INCLUDE_MEMORIES,),
        ),
        arg(
            "--only-turns",
            does="search turns only",
            dest="include",
            action="store_const",
            const=(INCLUDE_TURNS,),
        ),
    ),
)


# Writing.


@command(
    "remember",
    arg("content", "TEXT", "what to remember; - reads stdin"),
    a.CATEGORY,
    arg("--key", does="key within the category, which has one value"),
    *a.WRITE_ARGUMENTS,
)
def remember(session: CommandSession) -> CommandResult:
    """Store a fact."""
    return _write_result(session.view.remember(**session.given), "remembered")


@command("put", *_CATEGORY_AND_KEY, arg("value", "VALUE", "the value; - reads stdin"), *a.WRITE_ARGUMENTS)
def put(session: CommandSession) -> CommandResult:
    """Set the value of a key."""
    done = session.view.put(**session.given)
    return _write_result(done, f"put {session.args.category}/{session.args.key}")


@command(
    "update",
    a.ID,
    arg("content", "TEXT", "new text; - reads stdin", nargs="?"),
    arg("--if-version", "N", "only if this is the current version", type=int),
    a.CATEGORY,
    *a.FIELD_ARGUMENTS,
)
def update(session: CommandSession) -> CommandResult:
    """Change a memory."""
    given = session.given
    if given.keys() <= {"id", "if_version"}:
        raise BadUsage("update: specify what to change: a new text, or a field such as --kind")
    return _write_result(session.view.update(**given), "updated")


def _write_result(done: Remembered, what: str) -> CommandResult:
    replaced = f", in place of {done.supersedes}" if done.supersedes else ""
    line = f"{what}  {done.id}  version {done.version}{replaced}"
    return CommandResult(out.document_of(done), [line])


@command(
    "record",
    arg("file", "FILE", "JSON lines; - reads stdin"),
    arg("--session", "NAME", "the conversation (default: thread and day)"),
)
def record(session: CommandSession) -> CommandResult:
    """Store turns of a conversation word for word."""
    view = session.view
    done = view.record(inputs.read_turns(session.args.file), session=session.args.session)
    line = f"recorded  {out.format_count(len(done.ids), 'turn')}"
    return CommandResult({"ids": list(done.ids)}, [line])


@command(
    "relate",
    a.ID,
    arg("other", "OTHER", "another memory of yours"),
    arg("--relation", "WORD", "kind of relation (default %(default)s)", default="related_to"),
    arg("--strength", "X", "0 to 1 (default %(default)s)", type=float, default=1.0),
)
def relate(session: CommandSession) -> CommandResult:
    """Relate two memories."""
    given = session.given
    session.view.relate(**given)
    return out.done_result("related", more=f" to {given['other']}  {given['relation']}", **given)


@command(
    "forget",
    a.OPTIONAL_ID,
    arg("--category --namespace", "CATEGORY", "all your memories in it"),
    arg("--key", does="with --category: only the value of this key"),
    a.SUBJECT,
)
def forget(session: CommandSession) -> CommandResult:
    """Forget memories; they can be restored for 30 days."""
    args = session.args
    inputs.require_one_of(args, "id", "category", "subject")
    if args.key is not None and args.category is None:
        raise BadUsage("forget: --key requires --category")
    if args.id is not None:
        session.view.forget(args.id)
        return out.done_result("forgotten", args.id, "; restore it within 30 days")
    if args.subject is not None:
        count = session.memory.admin.forget_person(args.subject)
    elif args.key is not None:
        count = session.view.forget_key(args.category, args.key)
    else:
        count = session.view.forget_category(args.category)
    line = f"forgotten  {out.format_memory_count(count)}; restore them within 30 days"
    return CommandResult({"done": "forgotten", "count": count}, [line])


@command("visibility", a.ID, arg("visibility", "VISIBILITY", ", ".join(Visibility)))
def visibility(session: CommandSession) -> CommandResult:
    """Set where a memory may be shown."""
    given = session.given
    session.view.set_visibility(**given)
    return out.done_result("visibility", more=f" is {given['visibility']}", **given)


@command("withhold", a.ID, arg("who", "PERSON", a.PERSON_HELP, nargs="+"))
def withhold(session: CommandSession) -> CommandResult:
    """Withhold a memory from people."""
    args = session.args
    session.view.withhold_from(args.id, args.who)
    return out.done_result("withheld", args.id, f" from {', '.join(args.who)}")


@command("pin", a.ID, flag("--off", "unpin it"))
def pin(session: CommandSession) -> CommandResult:
    """Pin a memory, so that it never fades."""
    args = session.args
    session.view.pin(args.id, not args.off)
    return out.done_result("unpinned" if args.off else "pinned", args.id)


@command(
    "name",
    a.PERSON,
    arg("called", "NAME", "what you call them"),
    arg("--kind", "KIND", ", ".join(NameKind), default=NameKind.ALIAS.value),
)
def name(session: CommandSession) -> CommandResult:
    """Name a person."""
    args = session.args
    person = session.view.people.name(args.person, args.called, args.kind)
    names = ", ".join(f"{one.text} ({one.kind})" for one in person.names)
    return CommandResult({"person": to_json(person)}, [f"named  {person.id}  {names}"])


# Reading.


@command("get", *_CATEGORY_AND_KEY)
def get(session: CommandSession) -> CommandResult:
    """Print the value of a key."""
    memory = session.view.get(**session.given)
    if memory is None:
        raise NotFound("value")
    return CommandResult({"memory": to_json(memory)}, out.indent_text(memory.content, ""))


@command("show", a.ID)
def show(session: CommandSession) -> CommandResult:
    """Show one memory."""
    id, view = session.args.id, session.view
    memory = view.show(id)
    document = {"memory": to_json(memory)}
    try:
        view.explain(id)  # only the owner gets an answer, in private
        document["owners"] = out.document_of(memory, out.OWNER_FIELDS)
    except NotFound:
        pass
    return CommandResult(document, _memory_lines(memory, own="owners" in document))


def _memory_lines(memory: Memory, *, own: bool) -> list[str]:
    head = f"{memory.id}  {out.format_category(memory)}  {memory.kind}, version {memory.version}"
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
        ("created", out.format_time(memory.created_at)),
        ("updated", out.format_time(memory.updated_at)),
        ("expires", out.format_time(memory.expires_at)),
    ]
    if own:
        pairs += [
            ("learned in", memory.learned_in or ""),
            ("heard by", ", ".join(sorted(memory.heard_by))),
            ("withheld from", ", ".join(sorted(memory.withheld_from))),
            ("portable", "yes" if memory.portable else "no"),
            ("purged after", out.format_time(memory.purge_at)),
            ("replaced by", memory.superseded_by or ""),
        ]
    return [head, *out.indent_text(memory.content, "  | "), *out.format_fields(pairs)]


@command(
    "list",
    arg("category", "CATEGORY", "only this category", nargs="?"),
    arg("--prefix", "TEXT", "only keys with this prefix"),
    arg("--kind", "KIND", f"only this kind: {', '.join(Kind)}"),
    arg("--state", "STATE", f"only your own in this state, in private: {', '.join(State)}"),
    a.yes_or_no("--pinned", "only pinned memories, or only others"),
    *a.PAGE,
)
def list_(session: CommandSession) -> CommandResult:
    """List memories visible in this chat, newest first."""
    return _page_result(session.view.list(**session.given))


@command("about", a.PERSON, *a.PAGE)
def about(session: CommandSession) -> CommandResult:
    """List memories about a person visible in this chat."""
    return _page_result(session.view.people.about(**session.given))


def _page_result(page: Page[Memory]) -> CommandResult:
    def row(one: Memory) -> tuple[str, ...]:
        age = out.format_age(one.created_at, system_clock())
        return one.id, out.format_category(one), one.visibility.value, age, one.content

    return out.list_result("memories", page, row)


@command("history", a.OPTIONAL_ID, flag("--export", "print the history of every memory visible here, as JSON lines"))
def history(session: CommandSession) -> CommandResult | StreamedResult:
    """Show the history of a memory."""
    args = session.args
    if (args.id is None) is not args.export:
        raise BadUsage("history: specify the ID of a memory, or --export")
    if args.export:
        return StreamedResult(session.view.audit.export_history())
    return out.list_result(
        "history",
        session.view.history(args.id),
        lambda one: (
            out.format_time(one.at),
            one.event.value,
            f"v{one.version}",
            one.actor,
            " ".join(f"{name}={value}" for name, value in sorted(one.detail.items())),
            one.content or "",
        ),
    )


@command("explain", a.ID, arg("--asked-by", "KEY", "another person who would ask in that --chat"))
def explain(session: CommandSession) -> CommandResult:
    """Show which rule lets a memory be disclosed, or withholds it."""
    # The owner asks in private; --chat and --asked-by describe the situation in question.
    args, owner = session.args, session.requester
    other = None if args.asked_by is None else Requester(args.asked_by)
    chat = inputs.parse_chat(args, other or owner, also=owner if other else None)
    found = session.private_view.explain(args.id, chat, other)
    verdict = "said" if found.allowed else "withheld"
    return CommandResult(asdict(found), [f"{verdict}  {found.rule}: {found.says}"])


@command("delta", arg("--since", "REVISION", "changes after this revision", type=int, default=0))
def delta(session: CommandSession) -> CommandResult:
    """Show what changed in a thread since a revision."""
    found = session.view.delta(session.args.since)
    rows = [
        (str(one.revision), one.event, one.memory_id, one.category or "", show_with_key(one.key, one.content or ""))
        for one in found.changes
    ]
    lines = [f"revision {found.revision}", *out.format_table(rows)]
    return CommandResult(out.document_of(found), lines)


@command("people")
def people(session: CommandSession) -> CommandResult:
    """List the people you know in this chat."""
    return out.list_result(
        "people",
        session.view.people.list(),
        lambda person: (
            person.id,
            ", ".join(sorted(person.identities - {person.id})),
            ", ".join(f"{name.text} ({name.kind})" for name in person.names),
        ),
        "No people found.",
    )


@command("stats", flag("--whole-space", "as an operator: all memories of the space"))
def stats(session: CommandSession) -> CommandResult:
    """Count your memories."""
    whole = session.args.whole_space
    counted = session.memory.admin.stats() if whole else session.view.stats()
    by = (("state", counted.by_state), ("kind", counted.by_kind), ("filed", counted.by_category))
    rows = [
        (title if n == 0 else "", name, str(count))
        for title, counts in by
        for n, (name, count) in enumerate(sorted(counts.items()))
    ]
    return CommandResult(asdict(counted), [f"{counted.memories} memories", *out.format_table(rows)])


# Recalling.


@command(
    "recall",
    *a.question(limits.RECALL_DEFAULT_COUNT),
    flag("--why", "show the signals of each result"),
    *_FILTERS,
    a.BY,
)
def recall(session: CommandSession) -> CommandResult:
    """Find memories that answer a question."""
    given = session.given
    why = given.pop("why")
    found = session.view.recall(**given)

    def row(one: Recalled) -> tuple[str, ...]:
        category = out.format_category(one.memory)
        return one.memory.id, f"{one.score:.2f}", one.rule, category, _memory_text(one.memory)

    result = out.list_result("recalled", found, row)
    return replace(result, lines=_add_reasons(result.lines, found)) if why else result


def _add_reasons(lines: Iterable[str], found: Sequence[Recalled]) -> Iterator[str]:
    for line, one in zip(lines, found, strict=True):
        raised = [f"{name} {value:.2f}" for name, value in asdict(one.signals).items() if value]
        yield line
        yield f"  {one.why}"
        yield f"  {', '.join([f'similarity {one.similarity:.2f}', *raised])}"
        yield from out.format_table([("  related", other.id, _memory_text(other)) for other in one.related])


def _memory_text(memory: Memory) -> str:
    """Quote a turn of a conversation with its time and speaker."""
    if not memory.is_turn:
        return show_with_key(memory.key, memory.content)
    who = memory.name or memory.role or ""
    return f"{out.format_time(memory.observed_at)}, {who}: {memory.content}"


@command(
    "query", *a.question(limits.QUERY_DEFAULT_COUNT), flag("--full", "show IDs, scores and rules"), *_FILTERS, a.BY
)
def query(session: CommandSession) -> CommandResult:
    """Answer a question with bullets for a prompt."""
    filters = session.given
    full = filters.pop("full")
    named = ("query", "top_k", "budget_tokens", "categories", "threshold")
    given = {name: filters.pop(name) for name in named if name in filters}
    found = session.view.query(**given, filters=filters, form="full" if full else "bullets")

    def row(one: Bullet) -> tuple[str, ...]:
        of = one.recalled
        return one.id, f"{of.score:.2f}" if of else "", of.rule if of else "", _bullet_text(one)

    result = out.list_result("bullets", found, row)
    return result if full else replace(result, lines=[f"- {_bullet_text(one)}" for one in found])


def _bullet_text(one: Bullet) -> str:
    return f"↳ {one.text}" if one.related else one.text


@command("block", arg("--style", "STYLE", "memory, filtered or summary"), a.BY)
def block(session: CommandSession) -> CommandResult:
    """Print the memory block for the start of a prompt."""
    made = session.view.block(**session.given)
    return _prompt_result(made, *(f"{count} more in {name} did not fit" for name, count in sorted(made.cut.items())))


@command(
    "fresh",
    *a.question(limits.RECALL_DEFAULT_COUNT, limits.FRESH_BUDGET_TOKENS),
    arg("--since", "REVISION", "changes after this revision (default: that of the block)", type=int),
    a.BY,
)
def fresh(session: CommandSession) -> CommandResult:
    """Print the fresh context for the end of a prompt."""
    return _prompt_result(session.view.fresh(**session.given))


def _prompt_result(made: Block | Fresh, *notes: str) -> CommandResult:
    document = out.document_of(made)
    if not made.text:
        return CommandResult(document, [], (NOTHING_FOUND, *notes))
    return CommandResult(document, out.indent_text(made.text.removesuffix("\n"), ""), notes)
