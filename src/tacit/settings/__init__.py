"""One YAML file and the environment, as one frozen record. Only the composition root reads it."""

from __future__ import annotations

from tacit.settings.load import FILE_NAME, FILE_VARIABLE, load
from tacit.settings.records import (
    DbSettings,
    MemorySettings,
    PoolSettings,
    Settings,
    SqliteSettings,
    TtlDaysSettings,
    key_names,
    variable,
)
from tacit.settings.whereabouts import DATABASE_NAME, FOLDER_NAME, database_url

__all__ = [
    "DATABASE_NAME",
    "FILE_NAME",
    "FILE_VARIABLE",
    "FOLDER_NAME",
    "DbSettings",
    "MemorySettings",
    "PoolSettings",
    "Settings",
    "SqliteSettings",
    "TtlDaysSettings",
    "database_url",
    "key_names",
    "load",
    "variable",
]
