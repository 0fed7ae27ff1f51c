#!/bin/sh
# Finds a Chromium for the tests of the console, or installs Debian's, and prints its path.
# Everything but the path goes to standard error. Without one the tests that need it are skipped.
set -eu

say() { echo "tacit: $*" >&2; }

found() {
    for name in "${TACIT_TEST_CHROMIUM:-}" chromium-headless-shell chromium chromium-browser \
        google-chrome google-chrome-stable; do
        if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
            command -v "$name"
            exit 0
        fi
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# The shell is half the size and has no window, which is all that tests need; where a release does
# not have it, the whole browser.
with_apt() {
    command -v apt-get >/dev/null 2>&1 || return 1
    as_root true 2>/dev/null || return 1
    say "installing Chromium with apt-get, for the tests of the console"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -q >&2 || say "apt-get update failed; trying with what is known"
    for package in chromium-headless-shell chromium; do
        as_root apt-get install -y -q --no-install-recommends "$package" >&2 && return 0
    done
    return 1
}

found
with_apt && found
say "there is no Chromium, and it could not be installed: the tests of the console will be skipped."
say "Run 'apt-get install chromium' as root, or set TACIT_TEST_CHROMIUM=/path/to/chromium, and try again."
exit 1
