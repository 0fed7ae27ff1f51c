"""Commands that bring things to mind: recall, query, block, fresh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tacit.records.memory import Memory
from tacit.records.results import Bullet, Recalled
from tacit.records.text import show_with_key
from tacit.surfaces.cli import documents, questions, tables
from tacit.surfaces.cli.answers import NOTHING, Answer
from tacit.surfaces.cli.session import Session


def recall(session: Session) -> Answer:
    args = session.args
    found = session.view.recall(
        args.query, top_k=args.top_k, budget_tokens=args.budget_tokens, **questions.narrowed(args)
    )
    rows = [
        (one.memory.id, _score(one), one.rule, tables.filed(one.memory), _words(one.memory))
        for one in found
    ]
    lines = tables.table(rows)
    return Answer(
        document={"recalled": [documents.recalled(one) for one in found]},
        lines=list(_with_reasons(lines, found)) if args.why else lines,
        notes=() if found else (NOTHING,),
    )


def _with_reasons(lines: Sequence[str], found: Sequence[Recalled]) -> Iterator[str]:
    for line, one in zip(lines, found, strict=True):
        raised = [f"{name} {value:.2f}" for name, value in asdict(one.signals).items() if value]
        yield line
        yield f"  {one.why}"
        yield f"  {', '.join([f'similarity {one.similarity:.2f}', *raised])}"
        rows = [("  related", other.id, _words(other)) for other in one.related]
        yield from tables.table(rows)


def query(session: Session) -> Answer:
    args = session.args
    filters = questions.narrowed(args)
    told = session.view.query(
        args.query,
        categories=filters.pop("categories", None),
        threshold=filters.pop("threshold", None),
        filters=filters,
        top_k=args.top_k,
        form="full" if args.full else "bullets",
        budget_tokens=args.budget_tokens,
    )
    return Answer(
        document={"bullets": [documents.bullet(one) for one in told]},
        lines=_full(told) if args.full else [f"- {_marked(one)}" for one in told],
        notes=() if told else (NOTHING,),
    )


def _full(told: Sequence[Bullet]) -> list[str]:
    rows = []
    for one in told:
        behind = one.recalled
        score, rule = (_score(behind), behind.rule) if behind else ("", "")
        rows.append((one.id, score, rule, _marked(one)))
    return tables.table(rows)


def _marked(one: Bullet) -> str:
    return f"↳ {one.text}" if one.related else one.text


def block(session: Session) -> Answer:
    made = session.view.block(session.args.style)
    cut = tuple(f"{count} more in {name} did not fit" for name, count in sorted(made.cut.items()))
    return Answer(
        document=documents.block(made),
        lines=_text(made.text),
        notes=cut if made.text else (NOTHING, *cut),
    )


def fresh(session: Session) -> Answer:
    args = session.args
    made = session.view.fresh(
        args.query, since=args.since, top_k=args.top_k, budget_tokens=args.budget_tokens
    )
    return Answer(
        document=documents.fresh(made),
        lines=_text(made.text),
        notes=() if made.text else ("nothing new, and nothing comes to mind",),
    )


def _text(text: str) -> list[str]:
    return tables.paragraph(text.removesuffix("\n"), indent="") if text else []


def _score(one: Recalled) -> str:
    return f"{one.score:.2f}"


def _words(memory: Memory) -> str:
    """A turn of a conversation is quoted with who said it and when."""
    if not memory.is_turn:
        return show_with_key(memory.key, memory.content)
    who = memory.name or memory.role or ""
    return f"{tables.when(memory.observed_at)}, {who}: {memory.content}"
