"""What each command takes, beside the global options."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction

from tacit import limits
from tacit.records.accounts import NameKind
from tacit.records.memory import Kind, Sensitivity, State, Visibility

# Which memory something comes from: `Format` of surfaces/moving, which loads slowly.
FORMS = ("mem0", "mcp", "basic-memory", "langgraph", "chatgpt", "claude")


def none(parser: ArgumentParser) -> None:
    """Nothing but the global options."""


def one(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory's 8 characters")


def remember(parser: ArgumentParser) -> None:
    parser.add_argument("content", metavar="TEXT", help="what to remember; - reads it from stdin")
    _category(parser)
    parser.add_argument("--key", help="the slot inside the category, which has one value")
    _visibility(parser)
    _turns(parser)
    _fields(parser)


def put(parser: ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY")
    parser.add_argument("key", metavar="KEY")
    parser.add_argument("value", metavar="VALUE", help="the value; - reads it from stdin")
    _visibility(parser)
    _turns(parser)
    _fields(parser)


def update(parser: ArgumentParser) -> None:
    one(parser)
    parser.add_argument(
        "content", metavar="TEXT", nargs="?", help="other words; - reads them from stdin"
    )
    parser.add_argument(
        "--if-version", type=int, metavar="N", help="only if it still is at this version"
    )
    _category(parser)
    _fields(parser)


def get(parser: ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY")
    parser.add_argument("key", metavar="KEY")


def record(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSON lines; - reads them from stdin")
    parser.add_argument("--session", metavar="NAME", help="the conversation; else thread and day")


def relate(parser: ArgumentParser) -> None:
    one(parser)
    parser.add_argument("other", metavar="OTHER", help="another memory of yours")
    parser.add_argument(
        "--relation", metavar="WORD", default="related_to", help="how (default %(default)s)"
    )
    parser.add_argument(
        "--strength", type=float, metavar="X", default=1.0, help="0 to 1 (default %(default)s)"
    )


def list_(parser: ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY", nargs="?", help="only what is filed here")
    parser.add_argument("--prefix", metavar="TEXT", help="only keys that begin with this")
    parser.add_argument("--kind", metavar="KIND", help=f"only this kind: {', '.join(Kind)}")
    parser.add_argument(
        "--state",
        metavar="STATE",
        help=f"your own in this state, in private: {', '.join(State)}",
    )
    parser.add_argument(
        "--pinned", action=BooleanOptionalAction, help="only what is pinned, or is not"
    )
    _paging(parser)


def about(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="a name, telegram:123 or person:...")
    _paging(parser)


def forget(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    _category(parser, "everything of yours that is filed here")
    parser.add_argument("--key", help="with --category: only the value of this key")
    parser.add_argument(
        "--subject", metavar="KEY", help="as an operator: everything that belongs to a person"
    )


def yes(parser: ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask; needed off a terminal")


def explain(parser: ArgumentParser) -> None:
    one(parser)
    parser.add_argument(
        "--asked-by", metavar="KEY", help="somebody else who would ask in that --chat"
    )


def visibility(parser: ArgumentParser) -> None:
    one(parser)
    parser.add_argument("visibility", metavar="VISIBILITY", help=", ".join(Visibility))


def withhold(parser: ArgumentParser) -> None:
    one(parser)
    parser.add_argument("who", metavar="PERSON", nargs="+", help="a name, telegram:123, person:...")


def pin(parser: ArgumentParser) -> None:
    one(parser)
    parser.add_argument("--off", action="store_true", help="let it fade again")


def name(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="a name, telegram:123 or person:...")
    parser.add_argument("called", metavar="CALLED", help="what you call them")
    parser.add_argument(
        "--kind", metavar="KIND", default=NameKind.ALIAS.value, help=", ".join(NameKind)
    )


def external_key(parser: ArgumentParser) -> None:
    parser.add_argument("external_key", metavar="KEY", help="telegram:123")


def link(parser: ArgumentParser) -> None:
    external_key(parser)
    parser.add_argument("account", metavar="ACCOUNT", nargs="?", help="acct:42")
    parser.add_argument(
        "--unverified", action="store_true", help="it changes nothing until it is verified"
    )
    parser.add_argument("--verify", action="store_true", help="verify the link that waits")


def links(parser: ArgumentParser) -> None:
    parser.add_argument("identity", metavar="IDENTITY", help="telegram:123, acct:42 or person:...")


def merge(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="person:..., known by name only")
    parser.add_argument("into", metavar="INTO", help="who that is: person:... or telegram:123")


def unmerge(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="person:...")


def import_(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="PATH", help="JSON lines; - is stdin. With --from: its file or folder")
    add("--from", dest="form", choices=FORMS, metavar="FORMAT", help=", ".join(FORMS))
    add("--only", metavar="NAME", help="of mem0: one user; of langgraph: below one namespace")
    add("--run", metavar="NAME", help="what to call it (default: after what the file holds)")
    yes(parser)


def imports(parser: ArgumentParser) -> None:
    parser.add_argument("--revert", metavar="RUN", help="forget all that one of them brought")
    _paging(parser)


def stats(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--whole-space", action="store_true", help="as an operator: everybody's in the space"
    )


def delta(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--since", type=int, metavar="REVISION", default=0, help="changes after this revision"
    )


def maintain(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--migrate", action="store_true", help="bring the schema up to date, whatever is set"
    )
    parser.add_argument(
        "--rewrite",
        action="store_true",
        help="write every table of a PostgreSQL anew, so that no page holds what was erased",
    )


def _paging(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        default=limits.PAGE_DEFAULT_COUNT,
        help="at most this many (default %(default)s)",
    )
    parser.add_argument("--cursor", metavar="CURSOR", help="where the last page stopped")


def _category(parser: ArgumentParser, does: str = "where to file it") -> None:
    parser.add_argument("--category", "--namespace", metavar="CATEGORY", help=does)


def _visibility(parser: ArgumentParser) -> None:
    parser.add_argument("--visibility", metavar="VISIBILITY", help=", ".join(Visibility))
    parser.add_argument(
        "--for-room", action="store_const", const=True, help="a fact of the group's own"
    )


def _turns(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--turn",
        dest="turns",
        action="append",
        metavar="ID",
        help="a recorded turn it was learned from; may be repeated",
    )


def _fields(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--kind", metavar="KIND", help=", ".join(Kind))
    add("--about", action="append", metavar="PERSON", help="whom it is about; may be repeated")
    add(
        "--withhold-from",
        dest="withheld_from",
        action="append",
        metavar="PERSON",
        help="whom it must never reach; may be repeated",
    )
    add("--sensitivity", metavar="SENSITIVITY", help=", ".join(Sensitivity))
    add("--portable", action=BooleanOptionalAction, help="whether it may leave this chat")
    add("--importance", type=int, metavar="N", help="1 to 5")
    add("--confidence", type=float, metavar="X", help="0 to 1")
    add("--pinned", action=BooleanOptionalAction, help="whether it is kept from fading")
    add("--tag", dest="tags", action="append", metavar="WORD", help="may be repeated")
    add("--data", metavar="JSON", help="an object that is kept with it; {} clears it")
    add("--observed-at", metavar="TIME", help="2026-03-01T12:00:00+00:00")
    add("--expires-at", metavar="TIME", help="2026-03-01T12:00:00+00:00")
    add("--message", metavar="TEXT", help="the channel's id of the message it was said in")
    add("--agent", metavar="TEXT")
    add("--run", metavar="TEXT")
    add("--role", metavar="TEXT")
