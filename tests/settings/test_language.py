"""Which keys of `language` go together, what learning may be set to, and no key told."""

import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import limits
from tacit.bootstrap import _build_llm
from tacit.errors import InvalidInput, SettingsError
from tacit.llm.endpoint import EndpointModel
from tacit.settings import LanguageSettings, LearnSettings, Settings
from tests.settings.test_settings import DEFAULTS, SECRET, Place, outcome

OPENAI = "language: {provider: openai, model: tiny, api_key_env: MODEL_KEY}"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def one_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("language"))


def test_unless_told_otherwise_no_model_is_asked_and_nothing_is_bounded_but_a_question() -> None:
    assert DEFAULTS.language == LanguageSettings(
        provider="none",
        model="",
        base_url="",
        api_key_env="",
        timeout_seconds=limits.LANGUAGE_TIMEOUT_DEFAULT_SECONDS,
        retries=limits.LANGUAGE_RETRIES_DEFAULT_COUNT,
        max_output_tokens=limits.LANGUAGE_OUTPUT_DEFAULT_TOKENS,
        temperature=limits.LANGUAGE_TEMPERATURE_DEFAULT,
        output="auto",
        price_in_per_million=0.0,
        price_out_per_million=0.0,
        tokens_per_day=None,
        cost_per_day=None,
    )


def test_a_model_made_by_hand_has_the_defaults_of_the_settings() -> None:
    made = inspect.signature(EndpointModel).parameters
    for name in ("timeout_seconds", "retries", "max_output_tokens", "temperature", "output"):
        assert made[name].default == getattr(DEFAULTS.language, name), name


def test_unless_told_otherwise_conversations_are_learned_from_without_asking() -> None:
    assert DEFAULTS.learn == LearnSettings(
        enabled=True,
        confirm="never",
        daily_max_count=100,
        min_chars=20,
        debounce_seconds=30,
        workers=1,
        locale="auto",
        quarantine=True,
    )


def test_what_learning_is_told_is_kept(place: Place) -> None:
    place.environ["TACIT_LEARN_WORKERS"] = "0"
    loaded = place.read("learn: {confirm: new, locale: no, min_chars: 0, quarantine: off}")
    assert loaded.learn == LearnSettings(
        confirm="new", locale="no", min_chars=0, quarantine=False, workers=0
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [("0", 0.0), ("60", 60.0), ("0.5", 0.5), (".5", 0.5), ("12.75", 12.75), ("1.0", 1.0)],
)
def test_amounts(place: Place, written: str, meant: float) -> None:
    loaded = place.read(f"language: {{price_in_per_million: {written}}}")
    assert loaded.language.price_in_per_million == meant


def test_an_empty_temperature_is_the_models_own(place: Place) -> None:
    assert place.read("language: {temperature: ''}").language.temperature is None
    assert place.read("language: {temperature: null}").language.temperature == 0.0
    place.environ["TACIT_LANGUAGE_TEMPERATURE"] = ""
    assert place.read("language: {temperature: 1}").language.temperature is None


# What goes together


@pytest.mark.parametrize(
    ("yaml", "line", "message"),
    [
        (
            "language:\n  provider: openai",
            2,
            (
                "language.model: is empty, but language.provider is openai; set language.model or "
                "TACIT_LANGUAGE_MODEL to the endpoint's name for it"
            ),
        ),
        ("language:\n  provider: anthropic\n  model: ''", 3, "language.model: is empty, but"),
        (
            "language:\n  model: tiny\n  provider: anthropic",
            3,
            (
                "language.api_key_env: is empty, but language.provider is anthropic, at its own "
                "address; set language.api_key_env or TACIT_LANGUAGE_API_KEY_ENV to the name of "
                "the variable that holds the key, or language.base_url to a server of your own"
            ),
        ),
        (
            "language:\n  provider: openai\n  model: tiny\n  api_key_env: KEY\n  cost_per_day: 1",
            5,
            (
                "language.cost_per_day: cannot be enforced without prices; "
                "set language.price_in_per_million"
            ),
        ),
    ],
)
def test_keys_that_do_not_go_together_are_told_with_file_line_key_and_fix(
    place: Place, yaml: str, line: int, message: str
) -> None:
    said = place.refused(yaml)
    assert said.startswith(f"{place.cwd / 'tacit.yaml'}, line {line}: language.")
    assert message in said


@pytest.mark.parametrize(
    "wrong",
    [
        LanguageSettings(provider="openai"),
        LanguageSettings(provider="openai", model="tiny"),
        LanguageSettings(provider="openai", model="tiny", base_url="http://host", cost_per_day=1.0),
    ],
)
def test_what_is_refused_here_would_be_refused_when_opening_too(
    place: Place, wrong: LanguageSettings
) -> None:
    for name in ("provider", "model", "base_url", "cost_per_day"):
        value = getattr(wrong, name)
        if value:
            place.environ[f"TACIT_LANGUAGE_{name.upper()}"] = str(value)
    said = outcome(place)
    assert isinstance(said, str)
    with pytest.raises(InvalidInput) as caught:
        _build_llm(Settings(language=wrong))
    assert f": {caught.value.field}: " in said


@pytest.mark.parametrize(
    "yaml",
    [
        OPENAI,
        OPENAI.replace("openai", "anthropic"),
        "language: {provider: openai, model: tiny, base_url: 'http://[::1]:8080'}",
        OPENAI.replace("}", ", cost_per_day: 0.5, price_out_per_million: 2}"),
        "language: {provider: none, base_url: 'https://host', cost_per_day: 1}",
    ],
)
def test_keys_that_go_together_are_taken(place: Place, yaml: str) -> None:
    assert place.read(yaml).language.provider in yaml


def test_one_variable_switches_the_model_off_whatever_the_file_says(place: Place) -> None:
    place.environ["TACIT_LANGUAGE_PROVIDER"] = "none"
    assert _build_llm(place.read(OPENAI))[0] is None


def test_the_key_is_read_where_the_settings_say_and_missed_when_a_memory_is_opened(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = place.read(OPENAI)
    monkeypatch.delenv("MODEL_KEY", raising=False)
    with pytest.raises(InvalidInput, match=r"^language\.api_key_env: .* not set") as caught:
        _build_llm(loaded)
    assert "MODEL_KEY" not in str(caught.value)
    monkeypatch.setenv("MODEL_KEY", SECRET)
    model, _ = _build_llm(loaded)
    assert model is not None
    assert SECRET not in f"{model!r} {loaded!r}"
    model.close()


# What opens doors is not told


@pytest.mark.parametrize(
    "url",
    [
        f"https://{SECRET}@host/v1",
        f"https://host/v1?key={SECRET}",
        f"host/{SECRET}",
        f"https://[::1/{SECRET}",
        f"https://host/{SECRET}" + "x" * 2_048,
    ],
)
def test_an_address_that_is_none_is_told_without_repeating_it(place: Place, url: str) -> None:
    place.environ["TACIT_LANGUAGE_BASE_URL"] = url
    with pytest.raises(SettingsError, match=r"^TACIT_LANGUAGE_BASE_URL: language\.base_url: ") as e:
        place.load()
    assert SECRET not in str(e.value)
    assert ("language.api_key_env instead" if "@" in url else "https://host/v1") in str(e.value)


@pytest.mark.parametrize("key", [f"sk-{SECRET}", f"{SECRET} ", f"7{SECRET}", SECRET * 100])
def test_a_key_in_the_place_of_its_variable_is_told_without_repeating_it(
    place: Place, key: str
) -> None:
    place.environ["TACIT_LANGUAGE_API_KEY_ENV"] = key
    with pytest.raises(SettingsError, match=r"is not the name of a variable; put the key") as e:
        place.load()
    assert SECRET not in str(e.value)


def test_the_key_is_not_kept_among_the_settings(place: Place) -> None:
    said = place.refused(OPENAI.replace("MODEL_KEY", "TACIT_LANGUAGE_API_KEY"))
    assert "language.api_key_env: names one of Tacit's own variables" in said


@pytest.mark.parametrize(
    "yaml",
    [
        f"language: {{api_key: sk-{SECRET}}}",
        f"language: {{provider: sk-{SECRET}}}",
        f"language: {{api_key_env: [sk-{SECRET}]}}",
        f"language: {{retries: sk-{SECRET}}}",
        f"language: {{cost_per_day: sk-{SECRET}}}",
        f"learn: {{locale: sk_{SECRET}}}",
    ],
)
def test_a_key_in_the_wrong_place_is_not_repeated_either(place: Place, yaml: str) -> None:
    assert SECRET not in place.refused(yaml)


@given(st.text(min_size=1))
def test_no_key_at_all_gets_into_a_message_or_a_repr(one_place: Place, rest: str) -> None:
    one_place.environ = {"TACIT_LANGUAGE_API_KEY_ENV": f"{SECRET}{rest}"}
    said = outcome(one_place)
    one_place.environ = {}
    assert SECRET not in repr(said)
