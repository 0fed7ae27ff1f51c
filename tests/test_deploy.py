"""What people deploy with cannot rot: it names settings, commands and extras that there are."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tacit import limits
from tacit.cli.parser import parse_arguments
from tacit.settings import FILE_VARIABLE, key_names, variable_name

ROOT = Path(__file__).parent.parent
CONTAINERFILE = (ROOT / "Containerfile").read_text()
UNIT = (ROOT / "deploy" / "tacit.service").read_text()
PAGE = (ROOT / "docs" / "deploy.md").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
# Whoever writes compose.yaml chose these names; they are no settings.
OF_COMPOSE = {"TACIT_DB_PASSWORD"}
FILES = {
    name: (ROOT / name).read_text()
    for name in ("Containerfile", "compose.yaml", "deploy/tacit.service", "docs/deploy.md")
}


@pytest.mark.parametrize("name", FILES)
def test_every_variable_is_a_setting(name: str) -> None:
    known = {variable_name(key) for key in key_names()} | {FILE_VARIABLE} | OF_COMPOSE
    assert set(re.findall(r"TACIT_[A-Z_]+", FILES[name])) <= known


@pytest.mark.parametrize("name", FILES)
def test_every_command_is_one_that_there_is(name: str) -> None:
    written = FILES[name]
    before = r"(?:\btacit tacit|--rm.*? tacit|bin/tacit|^tacit|\$ tacit)"
    found = re.findall(before + r" ([a-z].*)", written, re.MULTILINE)
    for line in found:
        parse_arguments(shlex.split(line.rstrip("`.")))
    assert found or name == "Containerfile"


def test_the_image_installs_extras_that_there_are() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (named,) = re.findall(r"install '\.\[([a-z,]+)\]'", CONTAINERFILE)
    assert set(named.split(",")) <= set(extras)
    assert {"server", "postgres"} <= set(named.split(","))


def test_every_file_names_the_port_of_the_settings() -> None:
    port = limits.SERVER_DEFAULT_PORT
    assert f"EXPOSE {port}\n" in CONTAINERFILE
    assert f"http://127.0.0.1:{port}/health/ready" in CONTAINERFILE
    assert COMPOSE["services"]["tacit"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_whoever_stops_it_waits_for_longer_than_it_takes() -> None:
    most = limits.SERVER_DRAIN_SECONDS + limits.SERVER_CLOSE_MAX_SECONDS
    waits = [
        *re.findall(r"TimeoutStopSec=(\d+)", UNIT),
        *re.findall(r"--stop-timeout (\d+)", CONTAINERFILE + PAGE),
        COMPOSE["services"]["tacit"]["stop_grace_period"].removesuffix("s"),
    ]
    assert len(waits) == 4
    assert all(int(one) > most for one in waits)
