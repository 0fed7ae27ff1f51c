"""Any file and any variable yield settings, or one typed error that tells no secret."""

import math
from dataclasses import fields
from datetime import timedelta
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import sqlalchemy
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tacit import settings
from tacit.errors import SettingsError
from tacit.records.memory import CATEGORIES
from tacit.settings import CategorySetting, DbSettings, Settings
from tacit.settings.load import declared_fields, sections
from tests.settings.places import DEFAULTS, POSTGRES, SECRET, Place, as_written, value_at

TOP = [field.name for field in fields(Settings)]
WORDS = [*TOP, "system", "custom", "name", "context", "rag", "rag_length"]
WORDS += [*settings.key_names(), *(part for key in settings.key_names() for part in key.split("."))]
FRAGMENTS = [*"[]{}'\"|>%@#~\t\n7\\\ufeff", ": ", "\n  ", "- ", ", ", "&a ", "*", "!x ", "? "]
FRAGMENTS += ["---\n", "true", "<<", "1:30"]


@given(st.lists(st.sampled_from(WORDS + FRAGMENTS) | st.text(max_size=4)).map("".join))
def test_any_text_yields_settings_or_one_typed_error(one_place: Place, document: str) -> None:
    one_place.write(document.encode("utf-8", "surrogatepass"))
    said = one_place.outcome()
    assert isinstance(said, Settings) or said.startswith(f"{one_place.cwd / 'tacit.yaml'}")


def values() -> st.SearchStrategy[object]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates()
    return st.recursive(leaves, lambda below: st.lists(below) | st.dictionaries(st.sampled_from(WORDS) | leaves, below))


@given(st.dictionaries(st.sampled_from(TOP), values()) | values())
def test_any_yaml_document_yields_settings_or_one_typed_error(one_place: Place, document: object) -> None:
    one_place.write(yaml.dump(document, allow_unicode=True))
    said = one_place.outcome()
    assert isinstance(said, Settings) or said.startswith(f"{one_place.cwd / 'tacit.yaml'}")


@given(st.sampled_from(settings.key_names()), st.text())
@example("db.dsn", "postgresql://[")
@example("embedding.url", "https://[")
@example("embedding.url", "https://host:٣/v1")
@example("embedding.provider", "endpoint")
@example("language.base_url", "https://[")
@example("language.provider", "openai")
@example("language.temperature", "")
def test_any_variable_yields_settings_or_an_error_that_names_it(one_place: Place, key: str, value: str) -> None:
    (one_place.cwd / "tacit.yaml").unlink(missing_ok=True)
    one_place.environ = {settings.variable_name(key): value}
    said = one_place.outcome()
    one_place.environ = {}
    named = f"{settings.variable_name(key)}: {key}: "
    if key == "embedding.provider" and value in ("folder", "endpoint"):
        named = "TACIT_EMBEDDING_PROVIDER: embedding."  # and then the key that it needs
    if key == "language.provider" and value in ("openai", "anthropic"):
        named = "TACIT_LANGUAGE_PROVIDER: language."
    assert isinstance(said, Settings) or said.startswith(named)


@given(st.sampled_from(["sqlite", "postgres"]), st.sampled_from(["", *"sfp"]), st.text())
@example("postgres", "p", "://h:٣/x")
def test_any_dsn_yields_a_url_that_sqlalchemy_reads_or_one_typed_error(
    one_place: Place, driver: str, kind: str, rest: str
) -> None:
    prefix = {"": "", "s": "sqlite:", "f": "file:", "p": "postgresql:"}[kind]
    made = Settings(db=DbSettings(driver=driver, dsn=prefix + rest))  # type: ignore[arg-type]
    try:
        url = settings.database_url(made, one_place.home, one_place.cwd)
    except SettingsError:
        return
    assert sqlalchemy.make_url(url).get_backend_name().startswith(driver)


@given(st.data())
def test_no_damage_to_a_file_puts_its_password_into_the_message(one_place: Place, data: st.DataObject) -> None:
    text = f"db:\n  driver: postgres\n  dsn: {POSTGRES}\n"
    text += f"embedding:\n  provider: none\n  api_key: sk-{SECRET}\n"
    text += f"language:\n  base_url: https://host/{SECRET}\n  api_key_env: {SECRET}\n"
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(FRAGMENTS)) + text[at:]
    one_place.write(text)
    assert SECRET not in str(one_place.outcome())


NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True)
TEXTS = {
    "db.driver": st.just("sqlite"),  # the providers and modes below go with anything
    "embedding.provider": st.just("none"),
    "language.provider": st.just("none"),
    "telegram.mode": st.just("polling"),
    "db.dsn": st.from_regex(r"[a-z/ %?]{0,9}", fullmatch=True),
    "memory.space": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True),
    "memory.categories": st.lists(NAMES, unique=True).map(tuple),
    "memory.local_person": st.none() | st.integers(1, 10**9).map(lambda n: f"telegram:{n}"),
    "embedding.folder": st.from_regex(r"~?/[a-z /]{0,9}", fullmatch=True),
    "embedding.url": st.from_regex(r"https?://[a-z]{1,9}(:80)?/[a-z/]{0,9}", fullmatch=True),
    "embedding.model": st.from_regex(r"[a-z0-9][a-z0-9/.-]{0,9}", fullmatch=True),
    "embedding.api_key": st.from_regex(r"sk-[A-Za-z0-9]{1,9}", fullmatch=True),
    "language.base_url": st.from_regex(r"https?://[a-z]{1,9}(:80)?/[a-z/]{0,9}", fullmatch=True),
    "language.api_key_env": st.from_regex(r"[A-Z_]{1,9}", fullmatch=True),
    "recall.tokenizer": st.from_regex(r"[a-z]{0,9}\.json", fullmatch=True),
    "learn.locale": st.sampled_from(["auto", "en", "de", "pt-BR", "zh-Hant-TW"]),
}


def meant_by(key: str) -> st.SearchStrategy[object]:
    """Values that the declaration of a key allows."""
    section, _, name = key.rpartition(".")
    hint, about = get_type_hints(sections()[section])[name], declared_fields()[key].metadata
    kinds = [one for one in get_args(hint) if one is not NoneType] or [hint]
    if key in TEXTS:
        return TEXTS[key]
    if timedelta in kinds:
        least = 1 if about["parse"] else 0  # a period of at least a minute
        return st.integers(least, 9_999).map(lambda minutes: timedelta(minutes=minutes))
    if about["parse"] is not None:
        return st.just(declared_fields()[key].default)
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if hint is bool:
        return st.booleans()
    if int in kinds:
        return st.integers(*about["within"])
    low, high = about["within"]
    return st.integers(math.ceil(low), int(high)).map(float)


NEEDED = {key: TEXTS[key] for key in ("embedding.provider", "language.provider", "telegram.mode")}
OPTIONAL = {key: meant_by(key) for key in settings.key_names() if key not in NEEDED}


@given(st.fixed_dictionaries(NEEDED, optional=OPTIONAL))
def test_variables_say_the_same_as_a_file_and_give_back_what_was_meant(
    one_place: Place, meant: dict[str, object]
) -> None:
    nested: dict[str, Any] = {}
    for key, value in meant.items():
        *above, name = key.split(".")
        at = nested
        for section in above:
            at = at.setdefault(section, {})
        at[name] = list(value) if isinstance(value, tuple) else as_written(value)
    from_file = one_place.read(yaml.dump(nested))
    (one_place.cwd / "tacit.yaml").unlink()
    one_place.environ = {settings.variable_name(key): as_written(v) for key, v in meant.items()}
    from_variables = one_place.load()
    one_place.environ = {}
    assert from_file == from_variables
    for key in settings.key_names():
        assert value_at(from_variables, key) == meant.get(key, value_at(DEFAULTS, key))


CATEGORY_SETTINGS = st.builds(CategorySetting, name=NAMES) | st.builds(
    CategorySetting, name=NAMES, context=st.just("rag"), rag_length=st.integers(1, 500)
)
AGENTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,9}[a-z]", fullmatch=True)


@given(
    st.lists(CATEGORY_SETTINGS, unique_by=lambda one: one.name),
    st.integers(0, 5),
    st.dictionaries(AGENTS, st.lists(NAMES, unique=True)),
)
def test_what_is_written_is_what_is_read(
    one_place: Place, wanted: list[CategorySetting], systems: int, lists: dict[str, list[str]]
) -> None:
    def written(one: CategorySetting) -> dict[str, object]:
        rag = {"context": "rag", "rag_length": one.rag_length}
        return {"name": one.name} | (rag if one.context == "rag" else {})

    items = [written(one) for one in wanted]
    parts = {"system": items[:systems], "custom": items[systems:]}
    document = yaml.safe_dump({"categories": parts, "allowlists": lists}, sort_keys=False)
    loaded = one_place.read(document)
    assert loaded.categories == tuple(wanted)
    assert list(loaded.allowlists.items()) == [(agent, tuple(names)) for agent, names in lists.items()]
    listed = {name for names in lists.values() for name in names}
    known = set(settings.category_names(loaded))
    assert known == {*CATEGORIES, *(one.name for one in wanted), *listed}


@given(st.text(min_size=1))
def test_no_key_at_all_gets_into_a_message_or_a_repr(one_place: Place, rest: str) -> None:
    one_place.environ = {"TACIT_EMBEDDING_API_KEY": f"{SECRET}{rest}"}
    said = one_place.outcome()
    one_place.environ |= {"TACIT_EMBEDDING_PROVIDER": "none"}
    kept = one_place.outcome()
    one_place.environ = {}
    assert SECRET not in str(said)
    assert SECRET not in repr(kept)
    if isinstance(kept, Settings):
        assert kept.embedding.api_key == f"{SECRET}{rest}"


@given(st.text(min_size=1))
def test_no_key_in_place_of_a_variable_gets_into_a_message_or_a_repr(one_place: Place, rest: str) -> None:
    one_place.environ = {"TACIT_LANGUAGE_API_KEY_ENV": f"{SECRET}{rest}"}
    said = one_place.outcome()
    one_place.environ = {}
    assert SECRET not in repr(said)
