"""Which keys of `embedding` go together, what recall and prompts may be set to, and no key told."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import limits, settings
from tacit.embeddings.embedder import EMBEDDING_PROVIDERS, create_embedder
from tacit.errors import InvalidInput, SettingsError
from tacit.prompts.block import Style, render_block
from tacit.prompts.fence import MemoryLine
from tacit.settings import EmbeddingSettings, SessionsSettings, Settings
from tests.settings.test_settings import DEFAULTS, SECRET, Place, outcome

ENDPOINT = "embedding: {provider: endpoint, url: 'https://host/v1', model: bge-m3}"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def one_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("embedding"))


def test_unless_told_otherwise_the_local_model_is_used_where_it_is_installed() -> None:
    assert DEFAULTS.embedding == EmbeddingSettings(
        provider="auto", threads=limits.EMBEDDING_THREADS_DEFAULT_COUNT
    )


def test_conversations_are_not_kept_unless_told_so(place: Place) -> None:
    assert DEFAULTS.memory.sessions == SessionsSettings(keep=False, retention_days=30)
    loaded = place.read("memory: {sessions: {keep: yes, retention_days: 7}}")
    assert loaded.memory.sessions == SessionsSettings(keep=True, retention_days=7)


def test_a_block_is_as_long_as_the_limits_say_unless_told_otherwise() -> None:
    assert DEFAULTS.prompt.items_max == limits.BLOCK_ITEMS_MAX_COUNT
    assert DEFAULTS.prompt.chars_max == limits.BLOCK_MAX_CHARS


@pytest.mark.parametrize("style", [Style.MEMORY, Style.FILTERED])  # a summary has its own limit
def test_the_shortest_block_that_can_be_set_has_room_for_any_memory(
    place: Place, style: Style
) -> None:
    loaded = place.read(f"prompt: {{style: {style}, items_max: 1, chars_max: 2000}}")
    assert "from 2000" in place.refused("prompt: {chars_max: 1999}")
    longest = MemoryLine(
        id="aaaaaaaa",
        category="x" * limits.CATEGORY_MAX_CHARS,
        key='"' * limits.KEY_MAX_CHARS,
        text='"' * limits.CONTENT_MAX_CHARS,
        about=("x" * limits.NAME_MAX_CHARS,) * limits.PEOPLE_PER_MEMORY_MAX_COUNT,
        hearsay=True,
        created_at=datetime(2024, 5, 1, tzinfo=UTC),
    )
    block = render_block(
        [longest],
        Style(loaded.prompt.style),
        items_max=loaded.prompt.items_max,
        chars_max=loaded.prompt.chars_max,
    )
    assert block.shown == ("aaaaaaaa",)
    assert len(block.text) <= loaded.prompt.chars_max


@pytest.mark.parametrize(
    ("written", "meant"), [("0", 0.0), ("1", 1.0), ("0.6", 0.6), (".75", 0.75), ("1.0", 1.0)]
)
def test_fractions(place: Place, written: str, meant: float) -> None:
    assert place.read(f"recall: {{link_min: {written}}}").recall.link_min == meant


def test_paths_are_kept_as_written_and_resolved_like_every_other(place: Place) -> None:
    loaded = place.read(
        "embedding: {provider: folder, folder: ~/m}\nrecall: {tokenizer: t/tokenizer.json}"
    )
    folder = settings.resolve_path(loaded.embedding.folder, place.home, place.cwd)
    tokenizer = settings.resolve_path(loaded.recall.tokenizer, place.home, place.cwd)
    assert (folder, tokenizer) == (place.home / "m", place.cwd / "t" / "tokenizer.json")


# What goes together


@pytest.mark.parametrize(
    ("yaml", "line", "message"),
    [
        (
            "embedding:\n  provider: folder",
            2,
            (
                "embedding.folder: is empty, but embedding.provider is folder; "
                "set embedding.folder or TACIT_EMBEDDING_FOLDER to the path of a folder"
            ),
        ),
        (
            "embedding:\n  model: bge-m3\n  provider: endpoint",
            3,
            (
                "embedding.url: is empty, but embedding.provider is endpoint; set embedding.url or "
                "TACIT_EMBEDDING_URL to the endpoint's address, as in https://host/v1"
            ),
        ),
        (
            "embedding:\n  provider: endpoint\n  url: https://host/v1\n  model: ''",
            4,
            (
                "embedding.model: is empty, but embedding.provider is endpoint; "
                "set embedding.model or TACIT_EMBEDDING_MODEL"
            ),
        ),
        (
            "embedding:\n\n  url: https://host/v1",
            3,
            (
                "embedding.url: is set, but embedding.provider is auto, which does not use it; "
                "remove it, or set embedding.provider to endpoint"
            ),
        ),
        (
            "embedding:\n  provider: local\n  folder: model",
            3,
            "which does not use it; remove it, or set embedding.provider to folder",
        ),
        ("embedding:\n  api_key: sk", 2, "set embedding.provider to endpoint"),
        ("embedding:\n  dimension: 512", 2, "embedding.dimension: is set, but"),
        ("embedding: {provider: folder, folder: m, model: x}", 1, "embedding.model: is set, but"),
        (ENDPOINT.replace("}", ", folder: m}"), 1, "embedding.folder: is set, but"),
    ],
)
def test_keys_that_do_not_go_together_are_told_with_file_line_key_and_fix(
    place: Place, yaml: str, line: int, message: str
) -> None:
    said = place.refused(yaml)
    assert said.startswith(f"{place.cwd / 'tacit.yaml'}, line {line}: embedding.")
    assert message in said


@pytest.mark.parametrize("provider", EMBEDDING_PROVIDERS)
def test_what_is_refused_here_would_be_refused_when_opening_too(
    place: Place, provider: str
) -> None:
    own = {"folder": "m", "url": "https://host/v1", "model": "x", "api_key": "x", "dimension": "9"}
    refused = set()
    for name, value in own.items():
        place.environ = {
            "TACIT_EMBEDDING_PROVIDER": provider,
            f"TACIT_EMBEDDING_{name.upper()}": value,
        }
        said = outcome(place)
        if isinstance(said, str):
            key = said.split(": ")[1]
            with pytest.raises(InvalidInput) as caught:
                create_embedder(provider, **{name: int(value) if name == "dimension" else value})  # type: ignore[arg-type]
            assert caught.value.field in (key, f"embedding.{name}")
            refused.add(name)
    if provider in ("auto", "local"):
        assert refused == set(own)
    assert bool(refused) is (provider != "none")


@pytest.mark.parametrize(
    "yaml",
    [
        "embedding: {provider: auto, threads: 2}",
        "embedding: {provider: local, threads: 2, dimension: 0, url: ''}",
        "embedding: {provider: folder, folder: models/mine, threads: 4}",
        ENDPOINT,
        ENDPOINT.replace("}", ", api_key: sk-1, dimension: 256}"),
        "embedding: {provider: none, url: 'http://[::1]:8080', model: x, api_key: x, folder: y}",
    ],
)
def test_keys_that_go_together_are_taken(place: Place, yaml: str) -> None:
    assert place.read(yaml).embedding.provider in yaml


def test_a_variable_may_hold_what_the_file_leaves_out(place: Place) -> None:
    place.environ["TACIT_EMBEDDING_API_KEY"] = SECRET
    assert place.read(ENDPOINT).embedding.api_key == SECRET
    place.environ = {"TACIT_EMBEDDING_PROVIDER": "endpoint"}
    said = place.refused("embedding: {threads: 2}")
    assert said.startswith("TACIT_EMBEDDING_PROVIDER: embedding.url: is empty")


def test_one_variable_switches_vectors_off_whatever_the_file_says(place: Place) -> None:
    place.environ["TACIT_EMBEDDING_PROVIDER"] = "none"
    assert place.read(ENDPOINT).embedding.provider == "none"
    place.environ["TACIT_EMBEDDING_PROVIDER"] = "local"
    assert place.refused(ENDPOINT).startswith(f"{place.cwd / 'tacit.yaml'}, line 1: embedding.url")


# What opens doors is not told


@pytest.mark.parametrize(
    "url",
    [
        f"https://{SECRET}@host/v1",
        f"https://alice:{SECRET}@host/v1",
        f"https://host/v1?key={SECRET}",
        f"https://host/v1#{SECRET}",
        f"https:///{SECRET}",
        f"host/{SECRET}",
        f"ftp://host/{SECRET}",
        f"https://host:port/{SECRET}",
        f"https://[::1/{SECRET}",
        f"https://host/{SECRET} x",
        f"https://höst/{SECRET}",
        f"https://host/{SECRET}\n",
        SECRET,
        f"https://host/{SECRET}" + "x" * 2_048,
    ],
)
def test_an_address_that_is_none_is_told_without_repeating_it(place: Place, url: str) -> None:
    place.environ["TACIT_EMBEDDING_URL"] = url
    with pytest.raises(SettingsError, match=r"^TACIT_EMBEDDING_URL: embedding\.url: ") as caught:
        place.load()
    assert SECRET not in str(caught.value)
    fix = "embedding.api_key instead" if "@" in url else "https://host/v1"
    assert fix in str(caught.value)


@pytest.mark.parametrize(
    "key", [f"{SECRET} x", f"{SECRET}\nX-Other: 1", f"{SECRET}ü", f" {SECRET}", SECRET * 1_000]
)
def test_a_key_that_is_none_is_told_without_repeating_it(place: Place, key: str) -> None:
    place.environ["TACIT_EMBEDDING_API_KEY"] = key
    with pytest.raises(SettingsError, match=r"^TACIT_EMBEDDING_API_KEY: .*copy it again") as caught:
        place.load()
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "yaml",
    [
        f"embedding: {{sk-{SECRET}: x}}",
        f"embedding: {{provider: sk-{SECRET}}}",
        f"embedding: {{api_key: {{sk-{SECRET}: x}}}}",
        f"embedding: {{api_key: [sk-{SECRET}]}}",
        f"embedding: {{api_key: sk-{SECRET}}}",
        f"embedding: {{threads: sk-{SECRET}}}",
        f"memory: {{enabled: sk-{SECRET}}}",
        f"sk-{SECRET}: x",
        f"categories: {{sk-{SECRET}: x}}",
        f"categories: {{system: [{{name: x, sk-{SECRET}: x}}]}}",
        f"categories: {{system: [{{name: x, context: sk-{SECRET}}}]}}",
        f"allowlists: {{sk-{SECRET}: x}}",
        f"allowlists: {{sk-{SECRET}: [], 'sk-{SECRET}': []}}",
    ],
)
def test_a_key_in_the_wrong_place_is_not_repeated_either(place: Place, yaml: str) -> None:
    assert SECRET not in place.refused(yaml)


@given(st.text(min_size=1))
def test_no_key_at_all_gets_into_a_message_or_a_repr(one_place: Place, rest: str) -> None:
    one_place.environ = {"TACIT_EMBEDDING_API_KEY": f"{SECRET}{rest}"}
    said = outcome(one_place)
    one_place.environ |= {"TACIT_EMBEDDING_PROVIDER": "none"}
    kept = outcome(one_place)
    one_place.environ = {}
    assert SECRET not in str(said)
    assert SECRET not in repr(kept)
    if isinstance(kept, Settings):
        assert kept.embedding.api_key == f"{SECRET}{rest}"
