"""One YAML file and the environment, as one frozen record. Only the composition root reads it."""

from __future__ import annotations

from tacit.settings.categories import CategorySetting
from tacit.settings.chat import ChatSettings, SlackSettings, TelegramSettings
from tacit.settings.console import ConsoleSettings
from tacit.settings.keys import key_names, variable
from tacit.settings.load import FILE_NAME, FILE_VARIABLE, load
from tacit.settings.records import (
    DbSettings,
    EmbeddingSettings,
    LanguageSettings,
    LearnSettings,
    MemorySettings,
    PoolSettings,
    PromptSettings,
    RecallSettings,
    SessionsSettings,
    Settings,
    SqliteSettings,
    TtlDaysSettings,
    category_names,
)
from tacit.settings.server import ServerSettings
from tacit.settings.upkeep import (
    ConsolidateSettings,
    EraseSettings,
    EventsSettings,
    EverySettings,
    JobsSettings,
    LifecycleSettings,
    MetricsSettings,
    NotesSettings,
    ReflectSettings,
)
from tacit.settings.whereabouts import DATABASE_NAME, FOLDER_NAME, database_url, path_of

__all__ = [
    "DATABASE_NAME",
    "FILE_NAME",
    "FILE_VARIABLE",
    "FOLDER_NAME",
    "CategorySetting",
    "ChatSettings",
    "ConsoleSettings",
    "ConsolidateSettings",
    "DbSettings",
    "EmbeddingSettings",
    "EraseSettings",
    "EventsSettings",
    "EverySettings",
    "JobsSettings",
    "LanguageSettings",
    "LearnSettings",
    "LifecycleSettings",
    "MemorySettings",
    "MetricsSettings",
    "NotesSettings",
    "PoolSettings",
    "PromptSettings",
    "RecallSettings",
    "ReflectSettings",
    "ServerSettings",
    "SessionsSettings",
    "Settings",
    "SlackSettings",
    "SqliteSettings",
    "TelegramSettings",
    "TtlDaysSettings",
    "category_names",
    "database_url",
    "key_names",
    "load",
    "path_of",
    "variable",
]
