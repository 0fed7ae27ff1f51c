"""Settings from one YAML file and the environment, as one frozen record.

Only the composition root reads them: `bootstrap` builds a memory from them.
"""

from tacit.settings.dsn import database_url as database_url
from tacit.settings.dsn import resolve_path as resolve_path
from tacit.settings.load import FILE_VARIABLE as FILE_VARIABLE
from tacit.settings.load import check_together as check_together
from tacit.settings.load import key_names as key_names
from tacit.settings.load import load as load
from tacit.settings.load import variable_name as variable_name
from tacit.settings.sections import CategorySetting as CategorySetting
from tacit.settings.sections import ChatSettings as ChatSettings
from tacit.settings.sections import ConsoleSettings as ConsoleSettings
from tacit.settings.sections import ConsolidateSettings as ConsolidateSettings
from tacit.settings.sections import DbSettings as DbSettings
from tacit.settings.sections import EmbeddingSettings as EmbeddingSettings
from tacit.settings.sections import EraseSettings as EraseSettings
from tacit.settings.sections import EventsSettings as EventsSettings
from tacit.settings.sections import EverySettings as EverySettings
from tacit.settings.sections import JobsSettings as JobsSettings
from tacit.settings.sections import LanguageSettings as LanguageSettings
from tacit.settings.sections import LearnSettings as LearnSettings
from tacit.settings.sections import LifecycleSettings as LifecycleSettings
from tacit.settings.sections import MemorySettings as MemorySettings
from tacit.settings.sections import MetricsSettings as MetricsSettings
from tacit.settings.sections import NotesSettings as NotesSettings
from tacit.settings.sections import PoolSettings as PoolSettings
from tacit.settings.sections import PromptSettings as PromptSettings
from tacit.settings.sections import RecallSettings as RecallSettings
from tacit.settings.sections import ReflectSettings as ReflectSettings
from tacit.settings.sections import ServerSettings as ServerSettings
from tacit.settings.sections import SessionsSettings as SessionsSettings
from tacit.settings.sections import Settings as Settings
from tacit.settings.sections import SlackSettings as SlackSettings
from tacit.settings.sections import SqliteSettings as SqliteSettings
from tacit.settings.sections import TelegramSettings as TelegramSettings
from tacit.settings.sections import TtlDaysSettings as TtlDaysSettings
from tacit.settings.sections import category_names as category_names
