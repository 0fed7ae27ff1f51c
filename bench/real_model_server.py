"""Serves one model file over the OpenAI wire format, in the environment that `real_model` makes.

Prints its address as one line, and ends when its standard input does.
"""

from __future__ import annotations

import sys

import xllamacpp  # type: ignore[import-not-found, unused-ignore]  # in that environment alone

CONTEXT_TOKENS = 8192


def main() -> None:
    file, threads = sys.argv[1], int(sys.argv[2])
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
