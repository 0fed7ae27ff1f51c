#!/bin/sh
# Puts the installer `uv` into the folder given as $1 and prints the path of its executable.
# Debian splits pip and venv off Python, so this tries what is there and says what is missing.
# Everything but the path goes to standard error.
set -eu

folder=$1
python=${PYTHON:-python3}
requirement='uv>=0.9,<1'

say() { echo "tacit: $*" >&2; }

found() {
    for candidate in "$folder/bin/uv" "$folder/venv/bin/uv"; do
        if [ -x "$candidate" ] && "$candidate" --version >/dev/null 2>&1; then
            echo "$candidate"
            exit 0
        fi
    done
}

with_pip() {
    "$python" -m pip --version >/dev/null 2>&1 &&
        "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
            --upgrade --target "$folder" "$requirement" >&2
}

with_venv() {
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 &&
        "$python" -m venv --clear "$folder/venv" >&2 &&
        "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            "$requirement" >&2
}

with_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    say "installing python3-venv with apt-get, since Python has neither pip nor venv"
    { apt-get install -y -q python3-venv ||
        { apt-get update -q && apt-get install -y -q python3-venv; }; } >&2
}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    say "Python 3.11 or newer is needed, and '$python' is not: install python3 or set PYTHON=/path/to/python3.11."
    exit 1
fi

found
with_pip && found
with_venv && found
if command -v uv >/dev/null 2>&1; then
    command -v uv
    exit 0
fi
with_apt && with_venv && found
say "the set-up could not install 'uv': run 'apt-get install python3-venv' as root (or 'pip install uv'), check that the package index can be reached, and try again."
exit 1
