"""Schemathesis against a served memory: every operation of its OpenAPI document, every check.

The short run of `make test` and the long one of `make fuzz-api` (bench/api_fuzz.py) are this.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.engine import Status, events, from_schema

from tacit.memory import Memory
from tests.contract.rooms import ALICE

# Why a request of the form that the document says may be refused all the same: what is right may
# depend on what is stored, on the room, or on a rule that no schema can put. Else it is a finding.
MEANT = re.compile(
    r"is not one we gave"  # a cursor comes from a page
    r"|contains the (invisible|control) character"  # classes of Unicode
    r"|write at least one visible character"
    r"|works in a private chat only|has no notes: say which kind it is"  # the room
    r"|has nothing to work with"  # the settings
    r"|^path: "  # names of files: docs/files.md
    r"|one at a time$|named twice, and differently|the header says another one"  # one word, twice
    r"|is the same memory"  # two fields that must differ
    r"|say in which chat they would ask"  # one field that needs another
    r"|is above importance_max"  # two fields in order
    r"|means something in a group only|speaks for a room"  # a field and the room
    r"|is for the owner to give in a private chat"
    r"|only the owner changes more|stays where it is filed"  # whose it is, and what
    r"|cannot be linked to itself|keys already; revoke some"  # what is there by then
    r"|^about: must not be empty"  # the name of somebody is more than the sign before it
    r"|are \d+ words; at most \d+ are looked for"  # how many there are
    r"|may be \d+ people"  # who is known by that name
    r"|^data: contains a NUL"  # somewhere in any JSON value
    r"|^text: has a line that is no bullet"  # as the index of notes has them
    r"|holds a secret"
)
ACCEPTED = ("2xx", "3xx", "401", "403", "404", "409", "429", "5xx")  # as schemathesis has it
REJECTED = ("400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "5xx")
POSITIVE = "positive_data_acceptance"
SCOPES = ("read", "write", "erase", "admin", "act-as")


@dataclass(kw_only=True)
class Fuzzed:
    operations: int
    cases: Counter[str] = field(default_factory=Counter)  # by operation, of every phase
    by_phase: Counter[str] = field(default_factory=Counter)
    checks: int = 0
    findings: dict[str, str] = field(default_factory=dict)  # what is wrong → how to see it
    meant: int = 0  # refusals that no schema can tell
    unmade: int = 0  # requests that were not of the document, and thought to be
    bare: set[str] = field(default_factory=set)  # operations that take nothing: few cases differ
    errors: list[str] = field(default_factory=list)  # of schemathesis itself

    @property
    def clean(self) -> bool:
        return not self.findings and not self.errors


def settings(key: str, examples: int, phases: tuple[str, ...], *, seed: int | None) -> schemathesis.Config:
    """All checks, positive and negative data, NUL bytes among it."""
    every = ("examples", "coverage", "fuzzing", "stateful")
    found: dict[str, Any] = {
        "headers": {"Authorization": f"Bearer {key}"},
        "checks": {
            "enabled": True,
            # A version that nobody has, in If-Match, is of the right form, too.
            "positive_data_acceptance": {"expected-statuses": [*ACCEPTED, "412"]},
            # And so is one that comes with a body of the wrong form.
            "negative_data_rejection": {"expected-statuses": [*REJECTED, "412"]},
        },
        # Any text can be imported: what is no line of ours is told as refused.
        "operations": [{"include-path": "/api/import", "checks": {"negative_data_rejection": {"enabled": False}}}],
        "suppress-health-check": ["all"],
        "phases": {name: {"enabled": name in phases} for name in every},
        "generation": {"max-examples": examples, "database": "none", "no-shrink": True},
        "continue-on-failure": True,
    }
    if seed is not None:
        found["seed"] = seed
    return schemathesis.Config.from_dict(found)


def one_who_may_all(memory: Memory) -> str:
    """A key for which no operation is closed, so that each shows what it does."""
    return memory.keys.create("fuzz", scopes=SCOPES, requester=ALICE.key).token


def fuzz(url: str, config: schemathesis.Config) -> Fuzzed:
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", config=config)
    done = Fuzzed(operations=schema.statistic.operations.total)
    for path, methods in schema.raw_schema["paths"].items():
        for method, told in methods.items():
            if not told.get("parameters") and "requestBody" not in told:
                done.bare.add(f"{method.upper()} {path}")
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _count(done, event)
        elif isinstance(event, events.NonFatalError):
            done.errors.append(f"{event.label}: {event.value!r}")
        elif isinstance(event, events.FatalError):
            done.errors.append(repr(event.exception))
    return done


def _count(done: Fuzzed, event: events.ScenarioFinished) -> None:
    recorder = event.recorder
    for sent in recorder.cases.values():
        done.cases[sent.value.operation.label] += 1
        done.by_phase[event.phase.value] += 1
    for case_id, nodes in recorder.checks.items():
        done.checks += len(nodes)
        for node in nodes:
            if node.status == Status.FAILURE and node.failure_info is not None:
                case = recorder.cases[case_id].value
                failure = node.failure_info.failure
                named = f"{case.operation.label}: {node.name}: {failure.title}"
                response = recorder.interactions[case_id].response
                said = "" if response is None else response.text
                if node.name == POSITIVE and MEANT.search(_detail(said)):
                    done.meant += 1
                    continue
                if node.name == POSITIVE and not _is_of_the_document(case):
                    done.unmade += 1
                    continue
                told = f"{failure.message}\n{node.failure_info.code_sample}\n{said}"
                done.findings.setdefault(named, told)


def _is_of_the_document(case: schemathesis.Case[Any]) -> bool:
    """Where the tool finds no value for a pattern it sends `0`, and takes that for a good one."""
    document = case.operation.schema.raw_schema
    told = document["paths"][case.path][case.method.lower()]
    for parameter in told.get("parameters", ()):
        if "$ref" in parameter:
            parameter = document["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
        sent = case.headers.get(parameter["name"]) if parameter["in"] == "header" else None
        if sent is not None and not re.search(parameter["schema"].get("pattern", ""), sent):
            return False
    body = told.get("requestBody", {}).get("content", {}).get("application/json")
    return body is None or isinstance(case.body, dict)


def _detail(said: str) -> str:
    """The words of a refusal."""
    try:
        return str(json.loads(said).get("detail", ""))
    except (ValueError, AttributeError):
        return ""


@schemathesis.serializer("application/x-ndjson")
def lines(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """What is imported: JSON lines, or whatever was made up in their place."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
