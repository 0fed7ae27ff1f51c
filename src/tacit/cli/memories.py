"""Commands that write, read and recall memories."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tacit import Requester, limits
from tacit.cli import inputs, output
from tacit.cli.output import NOTHING_FOUND, BadUsage, CommandResult
from tacit.cli.session import CommandSession, read_text_argument
from tacit.errors import InvalidInput, NotFound
from tacit.records import validation
from tacit.records.memory import Kind, Memory
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS
from tacit.records.results import Bullet, Page, Recalled, Remembered, Stats
from tacit.records.text import show_with_key

# Commands that change memories.

# As they are called on the command line and by `View.remember`, alike.
FIELD_OPTIONS = (
    "kind", "category", "about", "withheld_from", "visibility", "sensitivity", "portable",
    "importance", "confidence", "pinned", "tags", "message", "agent", "run", "role", "key",
    "for_room", "turns",
)  # fmt: skip
TIME_OPTIONS = ("observed_at", "expires_at")


def remember(session: CommandSession) -> CommandResult:
    args = session.args
    done = session.view.remember(read_text_argument(args.content) or "", **_find_given_fields(args))
    return _write_result(done, "remembered")


def put_value(session: CommandSession) -> CommandResult:
    args = session.args
    named = _find_given_fields(args)
    category, key = named.pop("category"), named.pop("key")
    done = session.view.put(category, key, read_text_argument(args.value) or "", **named)
    return _write_result(done, f"put {category}/{key}")


def update_memory(session: CommandSession) -> CommandResult:
    args = session.args
    named = _find_given_fields(args)
    content = read_text_argument(args.content)
    if content is None and not named:
        raise BadUsage("update: say what to change: other words, or a field such as --kind")
    done = session.view.update(args.id, content, if_version=args.if_version, **named)
    return _write_result(done, "updated")


def _find_given_fields(args: Namespace) -> dict[str, Any]:
    """The fields that were named; the rest is for the memory to settle."""
    named = {name: getattr(args, name, None) for name in FIELD_OPTIONS}
    named["data"] = _parse_data(args)
    named |= {
        name: inputs.parse_zoned_time(name, getattr(args, name, None)) for name in TIME_OPTIONS
    }
    return {name: value for name, value in named.items() if value is not None}


def _parse_data(args: Namespace) -> object:
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


def _write_result(done: Remembered, act: str) -> CommandResult:
    told = f"{act}  {done.id}  version {done.version}"
    if done.supersedes:
        told += f", in place of {done.supersedes}"
    return CommandResult(document=output.remembered_document(done), lines=[told])


def record_turns(session: CommandSession) -> CommandResult:
    args = session.args
    view = session.view
    with inputs.open_input(args.file) as source:
        said = inputs.parse_turns(inputs.read_lines(source))
    done = view.record(said, session=args.session)
    count = len(done.ids)
    return CommandResult(
        document={"ids": list(done.ids)},
        lines=[f"recorded  {count} {'turn' if count == 1 else 'turns'}"],
    )


def relate_memories(session: CommandSession) -> CommandResult:
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


def forget_memories(session: CommandSession) -> CommandResult:
    args = session.args
    require_one_of(args, "forget", "id", "category", "subject")
    if args.key is not None and args.category is None:
        raise BadUsage("forget: --key needs --category")
    if args.id is not None:
        session.view.forget(args.id)
        return _done_result(args.id, "forgotten", "; restore it within 30 days")
    if args.subject is not None:
        count = session.memory.forget_subject(args.subject)
    elif args.key is not None:
        count = session.view.forget_key(args.category, args.key)
    else:
        count = session.view.forget_category(args.category)
    return CommandResult(
        document={"done": "forgotten", "count": count},
        lines=[f"forgotten  {_format_memory_count(count)}; restore them within 30 days"],
    )


def restore_memory(session: CommandSession) -> CommandResult:
    args = session.args
    session.view.restore(args.id)
    return _done_result(args.id, "restored")


def set_visibility(session: CommandSession) -> CommandResult:
    args = session.args
    session.view.set_visibility(args.id, args.visibility)
    return CommandResult(
        document={"id": args.id, "done": "visibility", "visibility": args.visibility},
        lines=[f"visibility  {args.id} is {args.visibility}"],
    )


def withhold_memory(session: CommandSession) -> CommandResult:
    args = session.args
    session.view.withhold_from(args.id, args.who)
    return _done_result(args.id, "withheld", f" from {', '.join(args.who)}")


def pin_memory(session: CommandSession) -> CommandResult:
    args = session.args
    session.view.pin(args.id, not args.off)
    return _done_result(args.id, "unpinned" if args.off else "pinned")


def name_person(session: CommandSession) -> CommandResult:
    args = session.args
    person = session.view.people.name(args.person, args.called, args.kind)
    names = ", ".join(f"{one.text} ({one.kind})" for one in person.names)
    return CommandResult(
        document={"person": output.person_document(person)}, lines=[f"named  {person.id}  {names}"]
    )


def _done_result(id: str, done: str, more: str = "") -> CommandResult:
    return CommandResult(document={"id": id, "done": done}, lines=[f"{done}  {id}{more}"])


def _format_memory_count(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def require_one_of(args: Namespace, command: str, *ways: str) -> None:
    """Exactly one of the ways to say what is meant."""
    if sum(getattr(args, way) not in (None, False) for way in ways) != 1:
        spelled = ("ID" if way == "id" else "--" + way.replace("_", "-") for way in ways)
        raise BadUsage(f"{command}: name one of {', '.join(spelled)}")


# Commands that read: get, show, list, about, history, explain, delta, people, stats.


def get_value(session: CommandSession) -> CommandResult:
    args = session.args
    memory = session.view.get(args.category, args.key)
    if memory is None:
        raise NotFound("value")
    lines = output.indent_text(memory.content, indent="")
    return CommandResult(document={"memory": output.memory_document(memory)}, lines=lines)


def show_memory(session: CommandSession) -> CommandResult:
    args = session.args
    view = session.view
    memory = view.show(args.id)
    document = {"memory": output.memory_document(memory)}
    try:
        view.explain(args.id)  # answers owners only, and in private only
        document["owners"] = output.owner_document(memory)
        own = True
    except NotFound:
        own = False
    return CommandResult(document=document, lines=_memory_lines(memory, own=own))


def _memory_lines(memory: Memory, *, own: bool) -> list[str]:
    head = f"{memory.id}  {output.format_category(memory)}  {memory.kind}, version {memory.version}"
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
        ("created", output.format_time(memory.created_at)),
        ("updated", output.format_time(memory.updated_at)),
        ("expires", output.format_time(memory.expires_at)),
    ]
    if own:
        pairs += [
            ("learned in", memory.learned_in or ""),
            ("heard by", ", ".join(sorted(memory.heard_by))),
            ("withheld from", ", ".join(sorted(memory.withheld_from))),
            ("portable", "yes" if memory.portable else "no"),
            ("purged after", output.format_time(memory.purge_at)),
            ("replaced by", memory.superseded_by or ""),
        ]
    return [head, *output.indent_text(memory.content, "  | "), *output.format_fields(pairs)]


def list_memories(session: CommandSession) -> CommandResult:
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


def list_about(session: CommandSession) -> CommandResult:
    args = session.args
    return _page_result(
        session.view.people.about(args.person, limit=args.limit, cursor=args.cursor), session
    )


def _page_result(page: Page[Memory], session: CommandSession) -> CommandResult:
    notes = [] if page.items else [NOTHING_FOUND]
    if page.cursor is not None:
        notes.append(f"there is more: say the same again with --cursor {page.cursor}")
    return CommandResult(
        document={"memories": [output.memory_document(m) for m in page], "cursor": page.cursor},
        lines=output.format_memories(page, session.now),
        notes=tuple(notes),
    )


def show_history(session: CommandSession) -> CommandResult:
    args = session.args
    entries = session.view.history(args.id)
    rows = [
        (
            output.format_time(e.at),
            e.event.value,
            f"v{e.version}",
            e.actor,
            " ".join(f"{name}={value}" for name, value in sorted(e.detail.items())),
            e.content or "",
        )
        for e in entries
    ]
    document = {"history": [output.history_document(entry) for entry in entries]}
    return CommandResult(document=document, lines=output.format_table(rows))


def explain_memory(session: CommandSession) -> CommandResult:
    """The owner asks in private; `--chat` and `--asked-by` say where it would be said, to whom."""
    args = session.args
    me = session.requester
    other = None if args.asked_by is None else Requester(args.asked_by)
    chat = inputs.parse_chat(args, other or me, also=me if other else None)
    explained = session.private_view.explain(args.id, chat, other)
    verdict = "said" if explained.allowed else "withheld"
    return CommandResult(
        document=asdict(explained),
        lines=[f"{verdict}  {explained.rule}: {explained.says}"],
    )


def show_delta(session: CommandSession) -> CommandResult:
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
    return CommandResult(
        document={
            "revision": found.revision,
            "changes": [output.change_document(c) for c in found.changes],
        },
        lines=[f"revision {found.revision}", *output.format_table(rows)],
    )


def list_people(session: CommandSession) -> CommandResult:
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
        document={"people": [output.person_document(person) for person in known]},
        lines=output.format_table(rows),
        notes=() if known else ("nobody is known here",),
    )


def show_stats(session: CommandSession) -> CommandResult:
    args = session.args
    counted = session.memory.stats() if args.whole_space else session.view.stats()
    return CommandResult(document=asdict(counted), lines=_stats_lines(counted))


def _stats_lines(counted: Stats) -> list[str]:
    by = (("state", counted.by_state), ("kind", counted.by_kind), ("filed", counted.by_category))
    rows = [
        (title if n == 0 else "", name, str(count))
        for title, counts in by
        for n, (name, count) in enumerate(sorted(counts.items()))
    ]
    return [f"{counted.memories} memories", *output.format_table(rows)]


# Questions on the command line: what the commands that bring things to mind take, and what a
# question is narrowed to.

# As they are called on the command line and by `View.recall`, alike.
_FILTER_OPTIONS = (
    "categories", "kinds", "user", "agent", "run", "actor", "role", "pinned", "importance_min",
    "importance_max", "threshold", "include",
)  # fmt: skip
_FILTER_TIME_OPTIONS = ("updated_after", "updated_before", "as_of")


def add_recall_options(parser: ArgumentParser) -> None:
    _add_question_argument(parser, limits.RECALL_DEFAULT_COUNT)
    _add_budget_option(parser)
    parser.add_argument("--why", action="store_true", help="say what raised each of them")
    _add_filter_options(parser)
    _add_agent_option(parser)


def add_query_options(parser: ArgumentParser) -> None:
    _add_question_argument(parser, limits.QUERY_DEFAULT_COUNT)
    _add_budget_option(parser)
    parser.add_argument("--full", action="store_true", help="with the records behind the bullets")
    _add_filter_options(parser)
    _add_agent_option(parser)


def add_block_options(parser: ArgumentParser) -> None:
    parser.add_argument("--style", metavar="STYLE", help="memory, filtered or summary")
    _add_agent_option(parser)


def add_fresh_options(parser: ArgumentParser) -> None:
    _add_question_argument(parser, limits.RECALL_DEFAULT_COUNT)
    _add_budget_option(parser, limits.FRESH_BUDGET_TOKENS)
    parser.add_argument(
        "--since", type=int, metavar="REVISION", help="changes after this one; else after the block"
    )
    _add_agent_option(parser)


def _add_question_argument(parser: ArgumentParser, count: int) -> None:
    parser.add_argument("query", metavar="QUESTION", help="in plain words")
    parser.add_argument(
        "--top-k",
        type=int,
        metavar="N",
        default=count,
        help="at most this many (default %(default)s)",
    )


def _add_budget_option(parser: ArgumentParser, tokens: int | None = None) -> None:
    parser.add_argument(
        "--budget-tokens",
        type=int,
        metavar="N",
        default=tokens,
        help="never more than this in a prompt" + " (default %(default)s)" * (tokens is not None),
    )


def _add_agent_option(parser: ArgumentParser) -> None:
    parser.add_argument("--by", metavar="AGENT", help="the agent that asks, kept to its allow-list")


def _add_filter_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--category",
        "--namespace",
        dest="categories",
        action="append",
        metavar="CATEGORY",
        help="only what is filed here; may be repeated",
    )
    add(
        "--kind",
        dest="kinds",
        action="append",
        metavar="KIND",
        help=f"only this kind; may be repeated: {', '.join(Kind)}",
    )
    add("--user", metavar="PERSON", help="only what belongs to this person")
    add("--actor", metavar="PERSON", help="only what this person said")
    add("--agent", metavar="TEXT", help="only what this agent wrote down")
    add("--run", metavar="TEXT", help="only what was written down in this run")
    add("--role", metavar="TEXT", help="only what was said in this role")
    add("--pinned", action="store_const", const=True, help="only what is pinned")
    add(
        "--no-pinned",
        "--not-pinned",
        dest="pinned",
        action="store_const",
        const=False,
        help="only what is not",
    )
    add("--importance-min", type=int, metavar="N", help="1 to 5")
    add("--importance-max", type=int, metavar="N", help="1 to 5")
    add("--updated-after", metavar="DATE", help="2026-03-01 or 2026-03-01T12:00Z")
    add("--updated-before", metavar="DATE", help="2026-03-01 or 2026-03-01T12:00Z")
    add("--as-of", metavar="DATE", help="answer with what was known then")
    add("--threshold", type=float, metavar="X", help="0 to 1: only what is this similar")
    _add_turn_options(parser)


def _add_turn_options(parser: ArgumentParser) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--turns",
        dest="include",
        action="store_const",
        const=(INCLUDE_MEMORIES, INCLUDE_TURNS),
        help="also what was said, word for word",
    )
    either.add_argument(
        "--only-turns",
        dest="include",
        action="store_const",
        const=(INCLUDE_TURNS,),
        help="only what was said, word for word",
    )


def parse_filters(args: Namespace) -> dict[str, Any]:
    """What was asked for; the rest is left to the memory."""
    named = {name: getattr(args, name) for name in _FILTER_OPTIONS}
    named |= {name: _parse_filter_time(name, getattr(args, name)) for name in _FILTER_TIME_OPTIONS}
    return {name: value for name, value in named.items() if value is not None}


def _parse_filter_time(name: str, written: str | None) -> object:
    return None if written is None else validation.parse_iso_datetime(name, written)


# Commands that bring things to mind: recall, query, block, fresh.


def recall_memories(session: CommandSession) -> CommandResult:
    args = session.args
    found = session.view.recall(
        args.query, top_k=args.top_k, budget_tokens=args.budget_tokens, **parse_filters(args)
    )
    rows = [
        (
            one.memory.id,
            _format_score(one),
            one.rule,
            output.format_category(one.memory),
            _memory_text(one.memory),
        )
        for one in found
    ]
    lines = output.format_table(rows)
    return CommandResult(
        document={"recalled": [output.recalled_document(one) for one in found]},
        lines=list(_add_reasons(lines, found)) if args.why else lines,
        notes=() if found else (NOTHING_FOUND,),
    )


def _add_reasons(lines: Sequence[str], found: Sequence[Recalled]) -> Iterator[str]:
    for line, one in zip(lines, found, strict=True):
        raised = [f"{name} {value:.2f}" for name, value in asdict(one.signals).items() if value]
        yield line
        yield f"  {one.why}"
        yield f"  {', '.join([f'similarity {one.similarity:.2f}', *raised])}"
        rows = [("  related", other.id, _memory_text(other)) for other in one.related]
        yield from output.format_table(rows)


def query_memories(session: CommandSession) -> CommandResult:
    args = session.args
    filters = parse_filters(args)
    told = session.view.query(
        args.query,
        categories=filters.pop("categories", None),
        threshold=filters.pop("threshold", None),
        filters=filters,
        top_k=args.top_k,
        form="full" if args.full else "bullets",
        budget_tokens=args.budget_tokens,
    )
    return CommandResult(
        document={"bullets": [output.bullet_document(one) for one in told]},
        lines=_full_lines(told) if args.full else [f"- {_bullet_text(one)}" for one in told],
        notes=() if told else (NOTHING_FOUND,),
    )


def _full_lines(told: Sequence[Bullet]) -> list[str]:
    rows = []
    for one in told:
        behind = one.recalled
        score, rule = (_format_score(behind), behind.rule) if behind else ("", "")
        rows.append((one.id, score, rule, _bullet_text(one)))
    return output.format_table(rows)


def _bullet_text(one: Bullet) -> str:
    return f"↳ {one.text}" if one.related else one.text


def show_block(session: CommandSession) -> CommandResult:
    made = session.view.block(session.args.style)
    cut = tuple(f"{count} more in {name} did not fit" for name, count in sorted(made.cut.items()))
    return CommandResult(
        document=output.block_document(made),
        lines=_text_lines(made.text),
        notes=cut if made.text else (NOTHING_FOUND, *cut),
    )


def show_fresh(session: CommandSession) -> CommandResult:
    args = session.args
    made = session.view.fresh(
        args.query, since=args.since, top_k=args.top_k, budget_tokens=args.budget_tokens
    )
    return CommandResult(
        document=output.fresh_document(made),
        lines=_text_lines(made.text),
        notes=() if made.text else ("nothing new, and nothing comes to mind",),
    )


def _text_lines(text: str) -> list[str]:
    return output.indent_text(text.removesuffix("\n"), indent="") if text else []


def _format_score(one: Recalled) -> str:
    return f"{one.score:.2f}"


def _memory_text(memory: Memory) -> str:
    """A turn of a conversation is quoted with who said it and when."""
    if not memory.is_turn:
        return show_with_key(memory.key, memory.content)
    who = memory.name or memory.role or ""
    return f"{output.format_time(memory.observed_at)}, {who}: {memory.content}"
