"""From settings to a model: what is refused, what is needed, and what is not imported."""

import subprocess
import sys
from typing import Any

import pytest

from tacit.bootstrap import _build_llm
from tacit.errors import InvalidInput
from tacit.llm.budget import Allowance
from tacit.llm.language_model import LanguageModel
from tacit.settings import LanguageSettings, Settings
from tests.llm.asking import ASKED, GOOD, KEY, MEANT, TEXT, Facts
from tests.llm.endpoint import Api, Endpoint
from tests.llm.replies import says


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)


def chosen(**options: Any) -> tuple[LanguageModel | None, Allowance]:
    return _build_llm(Settings(language=LanguageSettings(**options)))


def test_no_provider_is_no_model_whatever_else_is_set() -> None:
    assert chosen() == (None, Allowance())
    wrong = {"model": "tiny", "base_url": "nonsense", "api_key_env": "NOWHERE", "cost_per_day": 1}
    assert chosen(**wrong) == (None, Allowance())


@pytest.mark.parametrize("after", ["", "/", "/v1", "/v1/", "whole"])
def test_settings_make_a_model_that_answers(after: str, api: Api, endpoint: Endpoint) -> None:
    path = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}[api]
    endpoint.always = says(GOOD)
    model, _ = chosen(
        provider=api,
        model="tiny",
        base_url=endpoint.url + (path if after == "whole" else after),
        api_key_env="MODEL_KEY",
        price_in_per_million=1.0,
    )
    assert model is not None
    answer = model.ask(ASKED, TEXT, Facts, budget=None)
    model.close()
    assert (answer.value, answer.usage.cost_micros) == (MEANT, 40)
    assert KEY not in repr(model)
    assert KEY in str(endpoint.seen[0].headers)
    assert endpoint.strangers == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"model": " "}, "language.model"),
        ({"model": "line\nbreak"}, "language.model"),
        ({"base_url": "ftp://host/v1"}, "language.base_url"),
        ({"base_url": "https://user:pass@host/v1"}, "language.base_url"),
        ({"base_url": "https://host/v1?key=1"}, "language.base_url"),
        ({"base_url": "https://host:port/v1"}, "language.base_url"),
        ({"base_url": "https:///v1"}, "language.base_url"),
        ({"base_url": ""}, "language.api_key_env"),
        ({"api_key_env": KEY}, "language.api_key_env"),
        ({"timeout_seconds": 0}, "language.timeout_seconds"),
        ({"timeout_seconds": float("nan")}, "language.timeout_seconds"),
        ({"timeout_seconds": 10_000}, "language.timeout_seconds"),
        ({"retries": -1}, "language.retries"),
        ({"retries": 1_000}, "language.retries"),
        ({"max_output_tokens": 0}, "language.max_output_tokens"),
        ({"temperature": 3.0}, "language.temperature"),
        ({"output": "verse"}, "language.output"),
        ({"price_in_per_million": -1.0}, "language.price_in_per_million"),
        ({"cost_per_day": float("nan"), "price_in_per_million": 1.0}, "language.cost_per_day"),
        ({"cost_per_day": -1.0, "price_in_per_million": 1.0}, "language.cost_per_day"),
        ({"tokens_per_day": -1}, "language.tokens_per_day"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_with_its_name(wrong: dict[str, Any], field: str, api: Api) -> None:
    usual = {"provider": api, "model": "tiny", "base_url": "http://127.0.0.1:9"}
    with pytest.raises(InvalidInput) as caught:
        chosen(**{**usual, **wrong})
    assert caught.value.field == field
    assert KEY not in str(caught.value)


SETTINGS = """
import sys, tacit
from tacit.bootstrap import _build_llm
from tacit.settings import LanguageSettings, Settings
language = LanguageSettings(provider="openai", model="tiny", base_url="http://127.0.0.1:9")
settings = Settings(language=language)
"""


def run(program: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_the_library_is_imported_when_a_question_is_asked_and_not_before() -> None:
    run(f"""{SETTINGS}
memory = tacit.open("sqlite://", settings=settings, embedder=None)
memory.close()
model, _ = _build_llm(settings)
assert model is not None
heavy = {{"pydantic", "pydantic_ai", "openai", "anthropic", "httpx2"}} & set(sys.modules)
assert not heavy, heavy
model.close()
""")


@pytest.mark.parametrize("missing", ["pydantic_ai", "openai"])
def test_a_missing_extra_is_named_before_the_first_question(missing: str) -> None:
    run(f"""
import sys
sys.modules[{missing!r}] = None
{SETTINGS}
assert _build_llm(Settings())[0] is None
try:
    _build_llm(settings)
except tacit.MissingExtra as error:
    assert "pip install '.[language]'" in str(error)
else:
    raise SystemExit(1)
""")
