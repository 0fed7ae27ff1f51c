"""Everything that is measured, declared once. A label has one of a fixed set of words: nothing that
people write, and nothing that names them, a memory, a chat or a space, can come into one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from tacit.disclosure.decide import RULES, SHADOWED
from tacit.model.happening import Node, Op, Status
from tacit.model.words import State

OTHER = "other"  # stands for every word that is not declared
UNCHANGEABLE = "change"  # may be heard, and still not be changed by whoever asked

# The words of a view, and learning one turn in the background.
OPERATIONS = (
    "about", "accept_link", "activity", "activity_days", "approve", "begin_session", "block",
    "browse", "browse_count", "checkpoint", "confirm_link", "count", "decline", "delete_file",
    "delta", "end_session", "erase", "explain", "export", "file_sizes", "files", "forget",
    "forget_category", "forget_checkpoint", "forget_key", "fresh", "get", "graph", "hearers",
    "hearing", "history", "history_export", "identities", "import_items", "import_lines", "imports",
    "learn", "learn_turn",
    "link_waiting", "list", "looks", "merge_people", "name", "offer_link", "people", "pin",
    "preview_items", "proposals", "propose_public", "put", "query", "read_file", "recall", "record",
    "refuse_link", "relate", "remember", "rename_file", "restore", "revert_import", "rooms",
    "save_checkpoint",
    "set_visibility", "show", "stats", "steps", "suggest_update", "trace", "unlearn", "unlink_me",
    "unmerge_people", "update", "wipe", "withhold_from", "write_file",
)  # fmt: skip
OUTCOMES = ("ok", "refused", "error")
FAILURES = ("unavailable", "refused", "bad_answer", "over_budget")
TASKS = (
    "backup", "consolidate", "doctor", "evict", "expire", "fade", "learn", "maintain", "purge",
    "reembed", "reflect", "summarise",
)  # fmt: skip
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 60.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    name: str
    kind: Literal["counter", "histogram", "gauge"]
    says: str
    unit: str = "1"
    labels: Mapping[str, frozenset[str]]

    def check_labels(self, words: Mapping[str, str]) -> dict[str, str]:
        """Every label in its order, with a declared word or `other`."""
        return {
            label: words[label] if words[label] in known else OTHER
            for label, known in self.labels.items()
        }


def _measure(
    name: str,
    kind: Literal["counter", "histogram", "gauge"],
    says: str,
    unit: str = "1",
    **labels: Iterable[str],
) -> Measure:
    fixed = {label: frozenset(map(str, words)) for label, words in labels.items()}
    return Measure(name=name, kind=kind, says=says, unit=unit, labels=MappingProxyType(fixed))


OPERATION_COUNT = _measure(
    "operations", "counter", "What was asked of memory",
    operation=OPERATIONS, outcome=OUTCOMES,
)  # fmt: skip
OPERATION_SECONDS = _measure(
    "operation_seconds", "histogram", "How long it took", "s", operation=OPERATIONS
)
EVENT_COUNT = _measure(
    "events", "counter", "What happened in this process",
    node=Node, op=Op, status=Status,
)  # fmt: skip
REFUSAL_COUNT = _measure(
    "refusals", "counter", "Memories that were asked for by id and refused, by disclosure rule",
    rule=[*(rule.name for rule in RULES if not rule.allows), SHADOWED.rule, UNCHANGEABLE],
)  # fmt: skip
LANGUAGE_COUNT = _measure(
    "language_questions", "counter", "Questions to a language model", outcome=("ok", *FAILURES)
)
LANGUAGE_REQUESTS = _measure(
    "language_requests",
    "counter",
    "Requests that were answered and paid for: the first, retries, repairs",
)
LANGUAGE_TOKENS = _measure(
    "language_tokens", "counter", "Tokens sent and received", direction=("in", "out")
)
LANGUAGE_COST = _measure(
    "language_cost", "counter", "What that cost, in the currency of the prices that are set"
)
LANGUAGE_SECONDS = _measure("language_seconds", "histogram", "How long a question took", "s")
EMBEDDING_FAILURES = _measure(
    "embedding_failures", "counter", "Texts that no vector could be made of",
    purpose=("question", "write", "background"),
)  # fmt: skip
TASK_COUNT = _measure("task_runs", "counter", "Runs of upkeep", task=TASKS, outcome=("ok", "error"))
TASK_SECONDS = _measure("task_seconds", "histogram", "How long a step of one took", "s", task=TASKS)
QUEUE_DEPTH = _measure(
    "queue_depth", "gauge", "What waits in the database, for any process",
    of=("turns", "tasks", "updates"), state=("waiting", "parked"),
)  # fmt: skip
QUEUE_AGE = _measure("queue_age_seconds", "gauge", "How long the oldest turn has waited", "s")
MEMORY_COUNT = _measure("memories", "gauge", "Memories in the database", state=State)
EVENTS_TODAY = _measure(
    "events_last_day", "gauge", "What happened in the last 24 hours, in all processes",
    node=Node, op=Op, status=Status,
)  # fmt: skip

MEASURES = tuple(one for one in list(globals().values()) if isinstance(one, Measure))
