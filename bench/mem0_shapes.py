"""Scripts that were written for mem0, run on mem0 and on Tacit, and compared: `make test-mem0`.

    python bench/mem0_shapes.py [--python PATH] [--record]

mem0 lives in an environment of its own that is made for the run; `--python` names one that has it.
Its embedder asks an endpoint that is served here. With `--record`, what mem0 gave is kept in
tests/integrations/mem0, for the tests that compare Tacit with it where mem0 is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import mem0_endpoint, peers_env
from bench.mem0_child import OURS, Call
from bench.mem0_compare import comparable, differences

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = (ROOT / "examples" / "mem0_script.py", ROOT / "bench" / "mem0_calls.py")
RECORDS = ROOT / "tests" / "integrations" / "mem0" / "recorded"
PINS = ("mem0ai==2.2.1",)


def recorded(python: Path, module: str, script: Path, endpoint: str) -> tuple[list[Call], str]:
    """Every call of the script, and what it printed; in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        told = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "MEM0_DIR": folder,
            "MEM0_TELEMETRY": "false",
            "OPENAI_API_KEY": "sk-scripted",
            "OPENAI_BASE_URL": endpoint,
            "TACIT_EMBEDDING_PROVIDER": "none",
            "TACIT_JOBS_ON_OPEN": "false",
        }
        record = Path(folder) / "record.json"
        child = ROOT / "bench" / "mem0_child.py"
        command: list[str | Path] = [python, child, module, script, record]
        done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{script.name} does not run on {module}:\n{done.stderr[-2_000:]}")
        return comparable(json.loads(record.read_text())), done.stdout


def compare(python: Path, *, record: bool) -> bool:
    good = True
    with mem0_endpoint.serving() as endpoint:
        for script in SCRIPTS:
            theirs, printed = recorded(python, "mem0", script, endpoint)
            ours, ours_printed = recorded(Path(sys.executable), OURS, script, endpoint)
            if record:
                path = RECORDS / f"{script.stem}.json"
                path.parent.mkdir(exist_ok=True)
                path.write_text(json.dumps(theirs, indent=1, sort_keys=True) + "\n")
            found = differences(theirs, ours)
            if script.parent.name == "examples" and printed != ours_printed:
                found.append(f"it printed on mem0:\n{printed}and on Tacit:\n{ours_printed}")
            good = good and not found
            same = "all alike" if not found else f"{len(found)} differ"
            print(f"{script.name}: {len(theirs)} calls on {PINS[0]} and on Tacit, {same}")
            for line in found:
                print(line)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", type=Path, help="of an environment that has mem0")
    parser.add_argument("--record", action="store_true", help="keep what mem0 gave, for the tests")
    asked = parser.parse_args()
    if asked.python is not None:
        return 0 if compare(asked.python, record=asked.record) else 1
    with tempfile.TemporaryDirectory() as folder:
        try:
            environment = peers_env.build(Path(folder), PINS)
        except peers_env.CannotInstall as error:
            print(error)
            return 1
        return 0 if compare(environment.python, record=asked.record) else 1


if __name__ == "__main__":
    sys.exit(main())
