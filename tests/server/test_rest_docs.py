"""The API page at /docs: complete without a key, and without any other host."""

import re

import pytest

from tests.server.calls import World, good

PATHS = ("/docs", "/docs/docs.js", "/docs/docs.css")


def test_docs_are_a_page_for_everybody(world: World) -> None:
    page = world.client.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Tacit API" in page.text
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    for path in set(loaded) - {"data:,"}:
        assert world.client.get(path).status_code == 200, path


@pytest.mark.parametrize("path", PATHS)
def test_docs_load_nothing_from_another_host(world: World, path: str) -> None:
    answer = world.client.get(path)
    assert answer.status_code == 200
    assert re.findall(r"\w+:?//\w|@import|url\(", answer.text) == []
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "http" not in policy


def test_docs_are_no_part_of_the_document(world: World) -> None:
    assert not [path for path in good(world.client.get("/openapi.json"))["paths"] if "docs" in path]
