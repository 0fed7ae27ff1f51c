"""Input that nobody should write and somebody will."""

import math
from datetime import datetime
from typing import Any

ZERO_WIDTH = "\N{ZERO WIDTH SPACE}"
JOINER = "\N{ZERO WIDTH JOINER}"
MARK = "\N{RIGHT-TO-LEFT MARK}"
OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"
ISOLATE = "\N{LEFT-TO-RIGHT ISOLATE}"
ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
LINE = "\N{LINE SEPARATOR}"
ACCENT = "\N{COMBINING ACUTE ACCENT}"

EMPTY = ["", " ", "\n\t  ", ZERO_WIDTH, ZERO_WIDTH + JOINER + ORDER_MARK, OVERRIDE + MARK, LINE]
BROKEN = ["a\x00b", "\ud800", "a\udfffb", "\x00"]
INVISIBLE = [f"a{char}b" for char in (ZERO_WIDTH, OVERRIDE, ISOLATE, "\n", "\x7f", "\x1f", LINE)]
INVISIBLE += [MARK + "a", "a" + ZERO_WIDTH, ORDER_MARK + "a"]

# Odd, and still text: it is kept letter by letter.
ODD = [
    "'; DROP TABLE memories; --",
    "' OR '1'='1",
    'NEAR( * " AND owner:alice',
    '"unbalanced',
    "a AND b OR NOT c",
    "content:x ^y -z +w",
    "%s %(x)s {0} \\ $1 ?1 :name",
    f"{OVERRIDE}right to left and z{ZERO_WIDTH}ero width",
    f"e{ACCENT} is not é",
    f"𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩{JOINER}👧",
    "<script>alert(1)</script>\r\n\ttabs",
]

NO_CHAT: list[Any] = [
    "", "telegram", "telegram:", ":1", "telegram:x", "telegram:1:2", "a b:1", "Telegram:1",
    f"web:a{ZERO_WIDTH}b", f"web:{OVERRIDE}a", "web:é", "web:\ud800", "web:a\x00", "web:a\n",
    "ext:telegram:1", "person:AAAAAAAA", "web:" + "a" * 200, None, 5, b"web:1",
]  # fmt: skip

NO_KEY: list[Any] = [
    "", "alice", "telegram:", "telegram:0", "telegram:-1", "telegram:01", "telegram:١", "slack:U1",
    "slack:T1:U1:X", "acct:", "acct:a:b", "person:AAAAAAAA", "web:a b", f"web:a{ZERO_WIDTH}",
    f"web:{OVERRIDE}a", "web:é", "web:\ud800", "web:a\x00", "w" * 300 + ":1", None, 5, b"web:1",
]  # fmt: skip

NO_CURSOR: list[Any] = [
    "", "x", "====", "AAAA", "MTIz", "not base64!", OVERRIDE, "\ud800", "MS5BQUFBQUFBQQ" * 100,
    "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OS5BQUFBQUFBQQ", "bmFuLkFBQUFBQUFB", "MS4n",
    5, b"MS5BQUFBQUFBQQ", ["x"], object(),
]  # fmt: skip

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 (that it has no zone is the point)

NO_FIELD: dict[str, list[Any]] = {
    "kind": ["nonsense", "", 5, str, ["event"]],
    "visibility": ["nonsense", "PUBLIC_OK", 1, True],
    "sensitivity": ["nonsense", 2, ""],
    "portable": ["yes", 1, 0, "false"],
    "importance": [0, 6, -1, True, 3.0, "3", math.nan, 10**30],
    "confidence": [7, -0.1, math.nan, math.inf, True, "0.5", 10**400],
    "pinned": [1, "yes", 0],
    "tags": ["tag", 5, [5], [f"a{ZERO_WIDTH}b"], [""], ["x" * 65], [str(n) for n in range(33)]],
    "observed_at": ["2026-01-01", 5, NAIVE],
    "expires_at": ["soon", 0, NAIVE],
    "about": ["Sarah", b"Sarah", 5, [5], [["x"]], ["x"] * 65, ["web:"], ["person:x"]],
    "withheld_from": ["Sarah", 5, [None], ["x"] * 65, ["telegram:x"], range(10**12)],
    "slot": ["", f"a{ZERO_WIDTH}b", "s" * 201, 5],
    "message": ["", 5, "m" * 201],
    "agent": ["", "a\nb", 5],
    "run": ["", 5],
    "role": ["", 5],
    "for_room": ["yes", 1],
    "data": [[], "x", 5, {1: 2}, {"a": math.nan}, {"a": object()}, {"a": "b\x00"}, {"\ud800": 1}],
    # What a caller has no say in.
    "owner": ["ext:telegram:2002"],
    "trust": ["stated"],
    "inferred": [False],
    "state": ["active"],
    "nonsense": [1],
}
