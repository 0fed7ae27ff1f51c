"""What is said back on Slack: to whom, by which way, and what becomes of it on a bad day."""

import json
from collections.abc import Iterator

import pytest

from tacit import Chat, Requester
from tacit.bots.messages import (
    Attachment,
    Button,
    InboundMessage,
    NotSent,
    OutboundMessage,
    Span,
    TextMessage,
    code_span,
    make_message,
    strong_span,
)
from tacit.bots.slack.client import SlackClient, SlackSender
from tacit.bots.slack.updates import SlackButtonPressed, SlackCommand, SlackIdentity, SlackUser, UserCache
from tests.bots.slack_api import BOT, TEAM, TOKEN, Post, SlackApi, Workspace, direct, slack_api

ME = SlackIdentity(team=TEAM, user=BOT)
ALICE = Requester(f"slack:{TEAM}:U1001", "Alice")
HER_OWN = Chat.private(f"slack:{TEAM}:{direct('U1001')}")
GROUP = Chat.group(f"slack:{TEAM}:C100")
ROW = ((Button(label="Yes", data="p:y:1"), Button(label="No", data="p:n:1")),)


@pytest.fixture(scope="module")
def served() -> Iterator[SlackApi]:
    with slack_api() as api:
        yield api


CLIENTS: list[SlackClient] = []


@pytest.fixture
def api(served: SlackApi) -> Iterator[SlackApi]:
    served.workspace = Workspace()
    yield served
    while CLIENTS:
        CLIENTS.pop().close()


def connected(api: SlackApi, token: str = TOKEN) -> SlackClient:
    CLIENTS.append(SlackClient(token, api.api_url))
    return CLIENTS[-1]


class Pauses(list[float]):
    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def outlet(api: SlackApi, pauses: Pauses | None = None, token: str = TOKEN) -> SlackSender:
    client = connected(api, token)
    return SlackSender(client, ME, UserCache(client.get_user), Pauses() if pauses is None else pauses)


def said(chat: Chat, thread: str | None = None) -> TextMessage:
    return TextMessage(channel="slack", update="1", chat=chat, who=ALICE, thread=thread, text="hello", message="1.1")


def typed(api: SlackApi, chat: Chat) -> SlackCommand:
    return SlackCommand(
        channel="slack",
        update="1",
        chat=chat,
        who=ALICE,
        text="/mem",
        message="1",
        reply_url=api.reply_url(chat.id.rpartition(":")[2], "U1001"),
    )


def pressed(api: SlackApi, chat: Chat, ts: str, *, hidden: bool) -> SlackButtonPressed:
    url = api.reply_url(chat.id.rpartition(":")[2], "U1001", ts)
    return SlackButtonPressed(
        channel="slack", update="1", chat=chat, who=ALICE, data="p:y:1", message=ts, reply_url=url, hidden=hidden
    )


def sent(api: SlackApi, where: Chat, what: OutboundMessage, after: InboundMessage | None = None) -> list[Post]:
    before = len(api.workspace.posts)
    outlet(api).send(where, ALICE, what, after=after)
    return api.workspace.posts[before:]


def test_nothing_that_somebody_wrote_means_anything_to_slack(api: SlackApi) -> None:
    odd = "<!channel> <@U1|x> *not bold* _no_ `x` &amp; > quoted <https://x.example|here>"
    (post,) = sent(api, GROUP, make_message(odd, strong_span(" bold "), code_span("<b>")), said(GROUP))
    assert post.text == odd + " bold <b>"  # and the emulator saw that it was escaped
    styles = [one.get("style") for one in _elements(api)]
    assert styles == [None, {"bold": True}, {"code": True}]


def _elements(api: SlackApi) -> list[dict[str, object]]:
    blocks = json.loads(api.workspace.calls[-1].asked["blocks"])
    found: list[dict[str, object]] = blocks[0]["elements"][0]["elements"]
    return found


def test_an_answer_goes_into_the_channel_and_into_the_thread_it_belongs_to(api: SlackApi) -> None:
    (post,) = sent(api, GROUP, make_message("hello"), said(GROUP))
    assert (post.channel, post.only, post.thread) == ("C100", None, None)
    (post,) = sent(api, GROUP, make_message("hello"), said(GROUP, "17.000001"))
    assert (post.channel, post.thread) == ("C100", "17.000001")


def test_what_is_for_one_person_alone_goes_where_they_are_alone(api: SlackApi) -> None:
    alone = OutboundMessage(spans=(Span("a secret"),), alone=True)
    for after in (said(GROUP), typed(api, GROUP), pressed(api, GROUP, "1.1", hidden=False), None):
        (post,) = sent(api, GROUP, alone, after)
        assert post.channel == direct("U1001"), after
    (post,) = sent(api, HER_OWN, alone, said(HER_OWN))
    assert post.channel == direct("U1001")
    # Somebody else's private chat is not that of the person whom it is for.
    (post,) = sent(api, Chat.private(f"slack:{TEAM}:{direct('U2002')}"), alone)
    assert post.channel == direct("U1001")


def test_commands_and_buttons_are_answered_to_one_person_where_others_listen(api: SlackApi) -> None:
    (post,) = sent(api, GROUP, make_message("yours"), typed(api, GROUP))
    assert (post.only, post.by_url) == ("U1001", True)
    (post,) = sent(api, GROUP, make_message("yours"), pressed(api, GROUP, "1.1", hidden=False))
    assert (post.channel, post.only) == ("C100", "U1001")
    (post,) = sent(api, GROUP, make_message("yours"), pressed(api, GROUP, "1.1", hidden=True))
    assert (post.only, post.by_url) == ("U1001", True)


def test_what_stands_in_place_of_a_message_takes_its_place(api: SlackApi) -> None:
    instead = OutboundMessage(spans=(Span("done"),), instead=True)
    (asked,) = sent(api, GROUP, make_message("May I?", buttons=ROW), said(GROUP))
    assert [key.label for key in asked.keys] == ["Yes", "No"]
    (post,) = sent(api, GROUP, instead, pressed(api, GROUP, asked.ts, hidden=False))
    assert (post.in_place_of, post.keys, post.only) == (asked.ts, (), None)
    (post,) = sent(api, GROUP, instead, pressed(api, GROUP, "5.5", hidden=True))
    assert (post.in_place_of, post.only) == ("5.5", "U1001")
    # It is gone: then it is told to the one who pressed, not to everybody.
    (post,) = sent(api, GROUP, instead, pressed(api, GROUP, "9.9", hidden=False))
    assert (post.in_place_of, post.only) == (None, "U1001")


def test_an_address_that_is_used_up_leaves_the_private_chat(api: SlackApi) -> None:
    among_two = Chat.private(f"slack:{TEAM}:D7")  # typed in a chat of two people
    api.workspace.absent.add("D7")
    after = typed(api, among_two)
    api.workspace.urls.popitem()[1].uses = 5
    (post,) = sent(api, among_two, make_message("yours"), after)
    assert (post.channel, post.only) == (direct("U1001"), None)


def test_an_answer_never_goes_to_an_address_that_is_not_slacks(api: SlackApi) -> None:
    client = connected(api)
    for url in ("http://hooks.slack.com/x", "https://slack.com.example/x", "file:///x", "http://["):
        assert not client.trusts(url)
        with pytest.raises(NotSent):
            client.post_to_response_url(url, {"text": "x"}, instead=False)
    assert client.trusts("https://hooks.slack.com/commands/T1/2/3")
    assert client.trusts("https://files.slack.com/upload/v1/x")


def test_a_file_is_never_uploaded_where_others_listen_to_a_command(api: SlackApi) -> None:
    what = OutboundMessage(spans=(Span("All of it."),), attachment=Attachment(name="m.md", text="# Ä"))
    for where in (HER_OWN, GROUP):
        text, file = sent(api, where, what, typed(api, where))
        assert (text.text, text.only) == ("All of it.", "U1001")
        assert (file.channel, file.text, file.file) == (direct("U1001"), "m.md", "# Ä")


def test_a_long_answer_goes_in_parts_with_its_buttons_under_the_last(api: SlackApi) -> None:
    text = "\n".join(f"{n}. " + "word " * 20 for n in range(90))
    posts = sent(api, GROUP, make_message(text, buttons=ROW), said(GROUP))
    assert len(posts) > 2
    assert all(len(post.text) <= 3_000 for post in posts)
    assert "\n".join(post.text for post in posts).split() == text.split()
    assert [len(post.keys) for post in posts] == [0] * (len(posts) - 1) + [2]


def test_nobody_of_another_workspace_is_called(api: SlackApi) -> None:
    other = Requester("slack:T9:U1001")
    way = outlet(api)
    with pytest.raises(NotSent) as problem:
        way.send(Chat.group("slack:T9:C100"), other, make_message("x"))
    assert problem.value.for_good
    for who in (other, Requester("telegram:1001"), None):
        with pytest.raises(NotSent):
            way.send(GROUP, who, OutboundMessage(spans=(Span("x"),), alone=True))
    api.workspace.named("U1001", "Alice", is_admin=True)
    assert way.is_admin(GROUP, ALICE)
    assert not way.is_admin(GROUP, other)
    assert api.workspace.posts == []


def test_who_made_a_channel_or_looks_after_the_workspace_is_its_admin(api: SlackApi) -> None:
    api.workspace.named("U1001", "Alice")
    assert not outlet(api).is_admin(GROUP, ALICE)
    api.workspace.creators["C100"] = "U1001"
    assert outlet(api).is_admin(GROUP, ALICE)
    api.workspace.failing = [500, 500]
    assert not outlet(api).is_admin(GROUP, ALICE)


def test_slack_says_how_long_to_wait(api: SlackApi) -> None:
    api.workspace.limited = [17]
    with pytest.raises(NotSent) as problem:
        sent(api, GROUP, make_message("hello"), said(GROUP))
    assert (problem.value.for_good, problem.value.wait_seconds) == (False, 17)
    # In the middle of an answer it is waited for, so that its beginning does not come twice.
    pauses = Pauses()
    text = "\n".join("word " * 50 for _ in range(20))
    api.workspace.limited = [0, 3]
    outlet(api, pauses).send(GROUP, ALICE, make_message(text), after=said(GROUP))
    assert pauses == [3]
    assert " ".join(post.text for post in api.workspace.posts).split() == text.split()


def test_what_is_a_passing_trouble_is_no_refusal(api: SlackApi) -> None:
    api.workspace.cuts = 3
    with pytest.raises(NotSent) as cut:
        sent(api, GROUP, make_message("hello"), said(GROUP))
    api.workspace.failing = [503] * 3
    with pytest.raises(NotSent) as away:
        sent(api, GROUP, make_message("hello"), said(GROUP))
    api.workspace.endless = True
    with pytest.raises(NotSent) as endless:
        sent(api, GROUP, make_message("hello"), said(GROUP))
    api.workspace.endless = False
    api.workspace.absent.add("C100")
    with pytest.raises(NotSent) as absent:
        sent(api, GROUP, make_message("hello"), said(GROUP))
    troubles = (cut, away, endless, absent)
    assert [one.value.for_good for one in troubles] == [False, False, False, True]
    for one in troubles:  # and nothing of what was said stands in any of them
        assert "hello" not in repr(one.value)
        assert one.value.__cause__ is None


def test_a_token_is_told_by_nothing(api: SlackApi) -> None:
    secret = "xoxb-nobody-may-read-this"
    client = connected(api, secret)
    with pytest.raises(NotSent) as problem:
        client.get_identity()
    assert not problem.value.for_good
    told = (problem.value, problem.value.__context__, client, outlet(api, token=secret))
    assert not any(secret in repr(one) + str(one) for one in told)


def test_a_name_is_asked_for_once_in_a_while() -> None:
    asked: list[str] = []
    now = [0.0]

    def ask(user: str) -> SlackUser:
        asked.append(user)
        if now[0] == 3_700.0:
            raise NotSent("away", for_good=False)
        return SlackUser(name=f"{user} at {now[0]}")

    names = UserCache(ask, lambda: now[0])
    assert names("U1").name == names("U1").name == "U1 at 0.0"
    now[0] = 3_700.0  # nobody answers: yesterday's name is kept, and asked for again soon
    assert names("U1").name == "U1 at 0.0"
    assert names("U2").name is None
    now[0] = 3_800.0
    assert names("U2").name == "U2 at 3800.0"
    assert asked == ["U1", "U1", "U2", "U2"]
