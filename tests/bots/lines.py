"""The operator's log, for a test to read."""

from dataclasses import dataclass, field

Field = str | int | float | bool | list[str] | None


@dataclass
class Lines:
    told: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def tell(self, event: str, **what: Field) -> None:
        self.told.append((event, dict(what)))

    def failed(self, event: str, error: BaseException, **what: str | None) -> None:
        self.told.append((event, {"kind": type(error).__name__, **what}))

    def of(self, event: str) -> list[dict[str, object]]:
        return [what for told, what in self.told if told == event]

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.told]

    @property
    def problems(self) -> list[object]:
        return [what["problem"] for _, what in self.told if "problem" in what]
