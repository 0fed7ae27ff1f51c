"""What must never show: the key, the prompt and the answer, in logs as in errors."""

import pytest

from tacit.errors import InvalidInput, LanguageRefused, LanguageUnavailable
from tests.llm.asking import GOOD, KEY, TEXT, WRONG, Build, asked, failure
from tests.llm.endpoint import Api, Endpoint, Reply
from tests.llm.replies import refuses, says


def test_nothing_is_logged_of_key_prompt_or_answer(
    api: Api, build: Build, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    model = build(api, output="tool")
    endpoint.script = [refuses(500, message=TEXT), says(WRONG), says(GOOD)]
    asked(model)
    endpoint.always = refuses(401, message=f"{KEY} {TEXT}")
    failure(model, LanguageRefused)
    endpoint.always = Reply(body=b"<html>secret</html>")
    failure(model, LanguageUnavailable)
    told = f"{caplog.text} {[record.__dict__ for record in caplog.records]}"
    for secret in (KEY, "secret", "Say what is to be kept", "tea"):
        assert secret not in told


@pytest.mark.parametrize("key", ["two words", "ключ", "line\nbreak", "k" * 5_000])
def test_a_key_that_cannot_be_one_is_refused_without_being_shown(key: str, api: Api, build: Build) -> None:
    with pytest.raises(InvalidInput) as caught:
        build(api, api_key=key)
    assert key not in str(caught.value)
