"""Everything that an answer tells, for comparing what two who ask are told."""

from typing import Any

from tacit.view.view import View


def heard(view: View, query: str, **options: Any) -> list[object]:
    """But for ids, which are random."""
    return [
        (
            one.memory.content,
            one.score,
            one.similarity,
            one.signals,
            one.why,
            one.rule,
            [other.content for other in one.related],
        )
        for one in view.recall(query, **options)
    ]
