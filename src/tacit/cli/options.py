"""Options and arguments of the commands on memories, people and the database."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction

from tacit import limits
from tacit.records.accounts import NameKind
from tacit.records.memory import Kind, Sensitivity, State, Visibility

# Which memory something comes from: `Format` of surfaces/moving, which loads slowly.
IMPORT_FORMATS = ("mem0", "mcp", "basic-memory", "langgraph", "chatgpt", "claude")


def add_no_options(parser: ArgumentParser) -> None:
    """Nothing but the global options."""


def add_id_argument(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory's 8 characters")


def add_remember_options(parser: ArgumentParser) -> None:
    parser.add_argument("content", metavar="TEXT", help="what to remember; - reads it from stdin")
    _add_category_option(parser)
    parser.add_argument("--key", help="the slot inside the category, which has one value")
    _add_visibility_options(parser)
    _add_turn_option(parser)
    _add_field_options(parser)


def add_put_options(parser: ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY")
    parser.add_argument("key", metavar="KEY")
    parser.add_argument("value", metavar="VALUE", help="the value; - reads it from stdin")
    _add_visibility_options(parser)
    _add_turn_option(parser)
    _add_field_options(parser)


def add_update_options(parser: ArgumentParser) -> None:
    add_id_argument(parser)
    parser.add_argument(
        "content", metavar="TEXT", nargs="?", help="other words; - reads them from stdin"
    )
    parser.add_argument(
        "--if-version", type=int, metavar="N", help="only if it still is at this version"
    )
    _add_category_option(parser)
    _add_field_options(parser)


def add_get_options(parser: ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY")
    parser.add_argument("key", metavar="KEY")


def add_record_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSON lines; - reads them from stdin")
    parser.add_argument("--session", metavar="NAME", help="the conversation; else thread and day")


def add_relate_options(parser: ArgumentParser) -> None:
    add_id_argument(parser)
    parser.add_argument("other", metavar="OTHER", help="another memory of yours")
    parser.add_argument(
        "--relation", metavar="WORD", default="related_to", help="how (default %(default)s)"
    )
    parser.add_argument(
        "--strength", type=float, metavar="X", default=1.0, help="0 to 1 (default %(default)s)"
    )


def add_list_options(parser: ArgumentParser) -> None:
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
    _add_paging_options(parser)


def add_about_options(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="a name, telegram:123 or person:...")
    _add_paging_options(parser)


def add_forget_options(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    _add_category_option(parser, "everything of yours that is filed here")
    parser.add_argument("--key", help="with --category: only the value of this key")
    parser.add_argument(
        "--subject", metavar="KEY", help="as an operator: everything that belongs to a person"
    )


def add_yes_option(parser: ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask; needed off a terminal")


def add_explain_options(parser: ArgumentParser) -> None:
    add_id_argument(parser)
    parser.add_argument(
        "--asked-by", metavar="KEY", help="somebody else who would ask in that --chat"
    )


def add_visibility_options(parser: ArgumentParser) -> None:
    add_id_argument(parser)
    parser.add_argument("visibility", metavar="VISIBILITY", help=", ".join(Visibility))


def add_withhold_options(parser: ArgumentParser) -> None:
    add_id_argument(parser)
    parser.add_argument("who", metavar="PERSON", nargs="+", help="a name, telegram:123, person:...")


def add_pin_options(parser: ArgumentParser) -> None:
    add_id_argument(parser)
    parser.add_argument("--off", action="store_true", help="let it fade again")


def add_name_options(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="a name, telegram:123 or person:...")
    parser.add_argument("called", metavar="CALLED", help="what you call them")
    parser.add_argument(
        "--kind", metavar="KIND", default=NameKind.ALIAS.value, help=", ".join(NameKind)
    )


def add_external_key_argument(parser: ArgumentParser) -> None:
    parser.add_argument("external_key", metavar="KEY", help="telegram:123")


def add_link_options(parser: ArgumentParser) -> None:
    add_external_key_argument(parser)
    parser.add_argument("account", metavar="ACCOUNT", nargs="?", help="acct:42")
    parser.add_argument(
        "--unverified", action="store_true", help="it changes nothing until it is verified"
    )
    parser.add_argument("--verify", action="store_true", help="verify the link that waits")


def add_links_options(parser: ArgumentParser) -> None:
    parser.add_argument("identity", metavar="IDENTITY", help="telegram:123, acct:42 or person:...")


def add_merge_options(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="person:..., known by name only")
    parser.add_argument("into", metavar="INTO", help="who that is: person:... or telegram:123")


def add_unmerge_options(parser: ArgumentParser) -> None:
    parser.add_argument("person", metavar="PERSON", help="person:...")


def add_import_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="PATH", help="JSON lines; - is stdin. With --from: its file or folder")
    add(
        "--from",
        dest="form",
        choices=IMPORT_FORMATS,
        metavar="FORMAT",
        help=", ".join(IMPORT_FORMATS),
    )
    add("--only", metavar="NAME", help="of mem0: one user; of langgraph: below one namespace")
    add("--run", metavar="NAME", help="what to call it (default: after what the file holds)")
    add_yes_option(parser)


def add_imports_options(parser: ArgumentParser) -> None:
    parser.add_argument("--revert", metavar="RUN", help="forget all that one of them brought")
    _add_paging_options(parser)


def add_stats_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--whole-space", action="store_true", help="as an operator: everybody's in the space"
    )


def add_delta_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--since", type=int, metavar="REVISION", default=0, help="changes after this revision"
    )


def add_maintain_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--migrate", action="store_true", help="bring the schema up to date, whatever is set"
    )
    parser.add_argument(
        "--rewrite",
        action="store_true",
        help="write every table of a PostgreSQL anew, so that no page holds what was erased",
    )


def _add_paging_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        default=limits.PAGE_DEFAULT_COUNT,
        help="at most this many (default %(default)s)",
    )
    parser.add_argument("--cursor", metavar="CURSOR", help="where the last page stopped")


def _add_category_option(parser: ArgumentParser, does: str = "where to file it") -> None:
    parser.add_argument("--category", "--namespace", metavar="CATEGORY", help=does)


def _add_visibility_options(parser: ArgumentParser) -> None:
    parser.add_argument("--visibility", metavar="VISIBILITY", help=", ".join(Visibility))
    parser.add_argument(
        "--for-room", action="store_const", const=True, help="a fact of the group's own"
    )


def _add_turn_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--turn",
        dest="turns",
        action="append",
        metavar="ID",
        help="a recorded turn it was learned from; may be repeated",
    )


def _add_field_options(parser: ArgumentParser) -> None:
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
