"""A home folder, a current folder and an environment of a test's own."""

from datetime import timedelta
from pathlib import Path

import pytest

from tacit import settings
from tacit.errors import SettingsError
from tacit.settings import Settings

ROOT = Path(__file__).parents[2]
DEFAULTS = Settings()
SECRET = "hunter2"
POSTGRES = f"postgresql://alice:{SECRET}@db.example/tacit"


class Place:
    def __init__(self, folder: Path) -> None:
        self.home, self.cwd = folder / "home", folder / "cwd"
        self.home.mkdir()
        self.cwd.mkdir()
        self.environ: dict[str, str] = {}

    def load(self, path: str | Path | None = None) -> Settings:
        where = None if path is None else Path(path)
        return settings.load(where, environ=self.environ, home=self.home, cwd=self.cwd)

    def write(self, yaml: str | bytes) -> None:
        raw = yaml if isinstance(yaml, bytes) else yaml.encode()
        (self.cwd / "tacit.yaml").write_bytes(raw)

    def read(self, yaml: str | bytes) -> Settings:
        self.write(yaml)
        return self.load()

    def refused(self, yaml: str | bytes) -> str:
        with pytest.raises(SettingsError) as caught:
            self.read(yaml)
        cause_is_hidden = caught.value.__context__ is None or caught.value.__suppress_context__
        assert cause_is_hidden, "it would show lines of the file"
        return str(caught.value)

    def url(self, driver: str = "sqlite", dsn: str = "") -> str:
        self.environ = {"TACIT_DB_DRIVER": driver, "TACIT_DB_DSN": dsn}
        return settings.database_url(self.load(), self.home, self.cwd)

    def outcome(self) -> Settings | str:
        """The settings, or what the one error that may come says."""
        try:
            return self.load()
        except SettingsError as error:
            str(error).encode()
            return str(error)


def value_at(record: object, key: str) -> object:
    for name in key.split("."):
        record = getattr(record, name)
    return record


def as_written(value: object) -> str:
    """A setting as a person would write it into a variable."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case timedelta():
            minutes, seconds = divmod(int(value.total_seconds()), 60)
            parts = {"h": minutes // 60, "m": minutes % 60, "s": seconds}
            return "".join(f"{n}{unit}" for unit, n in parts.items() if n) or "0s"
        case tuple():
            return ",".join(value)
    return str(value).removesuffix(".0")
