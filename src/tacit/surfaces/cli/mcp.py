"""`tacit mcp`: memory for an MCP client that starts the server itself."""

from __future__ import annotations

from argparse import ArgumentParser

from tacit.errors import InvalidInput
from tacit.surfaces.cli.answers import Stream
from tacit.surfaces.cli.session import Session

PROFILES = ("standard", "reference")


def options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default=PROFILES[0],
        help="which tools: Tacit's own, or those of the reference memory server",
    )
    parser.add_argument("--by", metavar="AGENT", help="the agent that uses it")


def mcp(session: Session) -> Stream:
    """Standard output is the protocol's: nothing else is printed there."""
    import sys

    from tacit.surfaces.mcp.profiles import Name
    from tacit.surfaces.mcp.stdio import serve

    view = session.view
    if sys.stdin is None or sys.stdout is None:
        raise InvalidInput("mcp", "speaks over standard input and output, and there are none")
    serve(view, Name(session.args.profile))
    return Stream(lines=())
