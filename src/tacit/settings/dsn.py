"""Find the database that the settings mean, and resolve paths."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.records import validation
from tacit.settings.parsers import os_error_reason, settings_error
from tacit.settings.sections import DbSettings, Settings

FOLDER_NAME = ".tacit"  # in the home folder
DATABASE_NAME = "tacit.sqlite"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVER_OF_SCHEME = {
    "sqlite": "sqlite",
    "file": "sqlite",
    "postgresql": "postgres",
    "postgresql+psycopg": "postgres",
    "postgres": "postgres",
}
_SQLITE_PATH = re.compile(r"(?:sqlite:///|file://(?=/)|file:(?!//))([^?#]+)", re.IGNORECASE)
_LIBPQ_KEYWORDS = re.compile(r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=")
_SQLITE_FORMS = "a plain path, sqlite:///relative, sqlite:////absolute or file:path"
_POSTGRES_FORM = "postgresql://user@host/name"


def database_url(settings: Settings, home: Path, cwd: Path) -> str:
    """Return the SQLAlchemy URL of `db.dsn`; without one, of the first file that exists in the
    home folder and the current folder, or of a new one in the home folder, which is created."""
    if settings.db.dsn:
        try:
            return parse_dsn(settings.db, home, cwd)
        except InvalidInput as error:
            raise SettingsError(str(error)) from None
    if settings.db.driver == "postgres":
        raise SettingsError(
            "db.dsn: is empty, but db.driver is postgres; set db.dsn in the settings file or "
            f"TACIT_DB_DSN to {_POSTGRES_FORM}"
        )
    at_home, here = home / FOLDER_NAME / DATABASE_NAME, cwd / DATABASE_NAME
    if not path_exists(at_home) and path_exists(here):
        return _sqlite_url(here)
    try:
        at_home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({os_error_reason(error)})"
        fix = "set db.dsn to the path of a database"
        raise settings_error(at_home.parent, f"{problem}; {fix}") from None
    return _sqlite_url(at_home)


def resolve_path(written: str, home: Path, cwd: Path) -> Path:
    if written.startswith("~/"):
        return home / written[2:].lstrip("/")
    return cwd / written


def path_exists(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        problem = f"cannot be accessed ({os_error_reason(error)}); check its permissions"
        raise settings_error(path, problem) from None
    return True


def parse_dsn(db: DbSettings, home: Path, cwd: Path) -> str:
    """Return the SQLAlchemy URL of a DSN. Errors do not repeat it: it may hold a password."""
    match = _SCHEME.match(db.dsn)
    scheme = match[1].lower() if match else ""
    driver = _DRIVER_OF_SCHEME.get(scheme) if scheme else "sqlite"
    if driver is None or _LIBPQ_KEYWORDS.search(db.dsn):
        forms = f"{_SQLITE_FORMS}, or {_POSTGRES_FORM}"
        raise InvalidInput("db.dsn", f"is neither a path nor a known URL; write {forms}")
    if driver != db.driver:
        fix = _SQLITE_FORMS if db.driver == "sqlite" else _POSTGRES_FORM
        problem = f"is for {driver}, but db.driver is {db.driver}"
        raise InvalidInput("db.dsn", f"{problem}; set db.driver to {driver}, or db.dsn to {fix}")
    if driver == "postgres":
        return _postgres_url("postgresql" + db.dsn[len(scheme) :])
    match = _SQLITE_PATH.fullmatch(db.dsn)
    path = validation.check_storable("db.dsn", unquote(match[1]), limits.DSN_MAX_CHARS) if match else db.dsn
    if path in (":memory:", "sqlite://", "sqlite:///"):
        return "sqlite://"
    if scheme and match is None:
        # Parameters of SQLite URIs (mode, cache, vfs…) would change how Tacit opens the file.
        raise InvalidInput("db.dsn", f"cannot be opened; write {_SQLITE_FORMS}, without parameters")
    return _sqlite_url(resolve_path(path, home, cwd))


def _sqlite_url(path: Path) -> str:
    from sqlalchemy import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def _postgres_url(url: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
        port = 5432 if parsed.port is None else parsed.port
        valid = "@" not in (parsed.host or "") and 0 < port < 65_536 and not re.search(r"\s", url)
    except (ArgumentError, ValueError):
        valid = False
    if not valid:
        escapes = "in a password write %40 for @, %3A for :, %2F for / and %25 for %"
        raise InvalidInput("db.dsn", f"cannot be read as {_POSTGRES_FORM}; {escapes}")
    return url
