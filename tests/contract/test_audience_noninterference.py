"""Whatever others link, say and do elsewhere, an owner is told the same of who would hear."""

from contextlib import suppress
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, OPEN, TEAM, SetClock, group, kept, private

WORLDS = count()
ELSEWHERE = "telegram:-300"  # Alice is not in it
# Keys that Alice knows, and keys that she can only guess.
SLACK, MATRIX = "slack:T1:U9", "matrix:bob"
KEYS = [BOB.key, CAROL.key, SLACK, MATRIX]

others_act = st.one_of(
    st.tuples(st.just("link"), st.sampled_from(KEYS), st.sampled_from(["acct:b", "acct:c"])),
    st.tuples(st.just("unlink"), st.sampled_from(KEYS), st.none()),
    st.tuples(st.just("meet"), st.sampled_from(KEYS), st.sampled_from(KEYS)),
    st.tuples(st.just("talk of Alice"), st.sampled_from(KEYS), st.none()),
    st.tuples(st.just("merge"), st.sampled_from(KEYS), st.sampled_from([ALICE.key, *KEYS])),
    st.tuples(st.just("confide"), st.none(), st.none()),
)


def act(memory: Memory, what: str, first: Any, second: Any) -> None:
    """What others do, where Alice is not."""
    if what == "link":
        memory.admin.link(first, second)
    elif what == "unlink":
        memory.admin.unlink(first)
    elif what == "confide":
        memory.chats.set_confidential(ELSEWHERE)
    elif what == "merge":
        alone = private(memory, tacit.Requester(first))
        alone.remember("Ally is kind", about=["Ally"])
        known = {identity for one in alone.people.list() for identity in one.identities}
        memory.admin.merge_people(min(one for one in known if one.startswith("person:")), second)
    elif what == "meet":
        somebody = tacit.Requester(first)
        group(memory, somebody, ELSEWHERE, here=(somebody, second)).remember("hello")
    else:
        private(memory, tacit.Requester(first)).remember("Alice is odd", about=[ALICE.key])


def told(memory: Memory, clock: SetClock, acts: list[tuple[str, Any, Any]]) -> list[object]:
    team = group(memory, ALICE)
    group(memory, ALICE, FAMILY, here=(ALICE, CAROL)).remember("hello")
    own = private(memory, ALICE)
    plain = [
        kept(own, "Alice likes tea", visibility="public_ok", sensitivity="public"),
        kept(team, "Alice rows", visibility="room"),
        kept(team, "Bob rows", about=[BOB.key], **OPEN),
        kept(own, "a cake for Bob", withheld_from=[BOB.key]),
        kept(team, "a surprise", withheld_from=["Robert"], **OPEN),
    ]
    # They name keys that Alice does not know to be anybody's.
    probes = [
        kept(team, f"about {key}", about=[key], withheld_from=withheld, **OPEN)
        for key in (SLACK, MATRIX)
        for withheld in ([], [key])
    ]
    clock.forward(seconds=1)
    for one in acts:
        with suppress(tacit.NotFound, tacit.Conflict, tacit.InvalidInput):
            act(memory, *one)
    return [
        own.audience.chats(),
        [own.audience.of(id) for id in plain],
        [own.audience.of(id, visibility="public_ok") for id in plain],
        # Of what she hears herself in a room, she is told what she would hear there.
        [own.audience.of(id).people for id in (*plain, *probes)],
        heard(own),
    ]


def heard(view: View) -> list[object]:
    """What somebody would hear, by a key that she knows and by one that she can only guess."""
    asks = [tacit.Requester(one) for one in (BOB.key, SLACK)]
    chats = [tacit.Chat.group(TEAM), tacit.Chat.group(ELSEWHERE), tacit.Chat.private(BOB.key)]
    pages = [view.audience.preview(chat, one) for chat in chats for one in asks]
    return [sorted((hit.memory.content, hit.allowed, hit.rule) for hit in page) for page in pages]


def test_nobody_is_told_who_is_whom_and_what_there_is_elsewhere(memory: Memory, clock: SetClock) -> None:
    without = told(memory.space("without"), clock, [])

    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(acts=st.lists(others_act, min_size=1, max_size=6))
    def compare(acts: list[tuple[str, Any, Any]]) -> None:
        assert told(memory.space(f"world-{next(WORLDS)}"), clock, acts) == without

    compare()
