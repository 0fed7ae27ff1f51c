"""Updates of a channel and what they are heard as: corpora in YAML, by the rule that they show."""

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from tacit import Chat, Requester
from tacit.bots.messages import InboundMessage, Quote

Case = dict[str, Any]  # with `update` and `heard`


def read_updates(name: str) -> dict[str, list[Case]]:
    """The cases of a file by rule. What stands under `names` is only there to be referred to."""
    found = yaml.safe_load(Path(__file__).with_name(name).read_text("utf-8"))
    found.pop("names")
    return dict(found)


def check_cases(cases: list[Case], hear: Callable[[Any], InboundMessage | None]) -> None:
    assert cases
    for case in cases:
        assert describe(hear(case["update"])) == case["heard"], case["update"]


def describe(heard: InboundMessage | None) -> dict[str, Any] | None:
    """The kind of a message and its fields, without those that have their default."""
    if heard is None:
        return None
    told = {one.name: getattr(heard, one.name) for one in fields(heard)}
    plain = {one.name: one.default for one in fields(heard)} | {"channel": heard.channel}
    some = {name: _write(given) for name, given in told.items() if given != plain[name]}
    return {"is": type(heard).__name__, **some}


def _write(given: object) -> object:
    match given:
        case Chat():
            with_whom = [str(_write(one)) for one in given.participants]
            marks = [] if given.vouched else ["not vouched"]
            return ", ".join([f"{given.kind} {given.id}", *with_whom, *marks])
        case Requester():
            name = f" {given.name}" if given.name else ""
            username = f" @{given.username}" if given.username else ""
            return f"{given.key}{name}{username}" + (" (bot)" if given.is_bot else "")
        case Quote():
            return f"{'us' if given.ours else given.by}: {given.text}"
        case datetime():
            return given.isoformat()
        case tuple():
            return [_write(one) for one in given]
    return given
