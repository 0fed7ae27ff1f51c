"""A group bot to adapt: it talks with people in a group and in private, learns from messages, asks
before it stores what was said in passing, and shows private memories only in private.

Run it, with the scripted conversation below and without a model:

    python examples/group_bot.py

With OPENAI_API_KEY and MODEL (and OPENAI_BASE_URL for another server), a model answers, with
memory tools. With TELEGRAM_BOT_TOKEN from @BotFather, the bot runs on Telegram and stores memories
in ~/.tacit. A complete bot is built in: `tacit telegram`.

It prints:

    [private] Alice: I am looking for a new job
    [private] bot: Should I remember this? Alice is looking for a new job (yes or no)
    [private] Alice: yes
    [private] bot: I will.
    [private] Alice: Don't tell Bob, but I bought a telescope for his birthday
    [private] bot: Should I remember this? Alice bought a telescope for Bob's birthday (yes or no)
    [private] Alice: yes
    [private] bot: I will.
    [group] Bob: Our standup is at 9:30
    [group] bot: Should I remember this? Bob's standup is at 9:30 (yes or no)
    [group] Bob: yes
    [group] bot: I will.
    [group] Alice: @bot When is our standup?
    [group] bot: Bob's standup is at 9:30
    [group] Alice: @bot What job am I looking for?
    [group] bot: I do not know.
    [private] Bob: What is there for my birthday?
    [private] bot: I do not know.
    [private] Bob: My password is correct-horse-7!
    [private] bot: That looks like a stated password. I do not keep those.
    [private] Alice: /memory
    [private] bot: 1. Bob's standup is at 9:30
      2. Alice bought a telescope for Bob's birthday
      3. Alice is looking for a new job
    [private] Alice: /forget 1
    [private] bot: That is not yours to forget.
    [private] Alice: /forget 3
    [private] bot: Forgotten.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import tacit
from tacit.tools.kits import openai_kit

RULES = """You are a member of this group, and talk with each of its people in private, too. Answer
briefly, with what you know. What you are shown as memory may be said here. Never tell where you
know something from, and do not guess what you are not shown."""
READING = ("memory_query",)
# No tool that adds: learning stores new facts after asking, while a tool would not ask.
CHANGING = ("update_memory", "memory_delete")
ROUNDS_MAX_COUNT = 6
RECENT_COUNT = 10  # recent messages of a chat in the prompt
YES, NO = ("yes", "y", "ok", "please do"), ("no", "n", "please don't")


@dataclass(frozen=True, kw_only=True)
class Heard:
    """An inbound message. Sender and chat come from the channel, never from the text."""

    update: str  # the channel's id of this update, for idempotency
    chat: tacit.Chat
    who: tacit.Requester | None  # None: the channel does not identify the sender
    text: str = ""  # the sender's own words alone
    message: str = ""
    to_bot: bool = True
    edited: bool = False
    came: tuple[tacit.Requester, ...] = ()
    went: tuple[tacit.Requester, ...] = ()


Turn = tuple[str, str]  # name and text; the bot has no name
Answer = Callable[[tacit.View, Heard, Sequence[Turn]], str]


class Bot:
    def __init__(self, memory: tacit.Memory, answer: Answer) -> None:
        self._memory, self._answer = memory, answer
        self._present: dict[str, set[str]] = defaultdict(set)
        # By chat: messages of one chat are never shown in another.
        self._recent: dict[str, deque[Turn]] = defaultdict(lambda: deque(maxlen=RECENT_COUNT))
        self._asked: dict[tuple[str, str], str] = {}  # open proposal by chat and person
        self._listed: dict[tuple[str, str], list[str]] = {}

    def hear(self, heard: Heard) -> list[str]:
        """Handle one message; return the replies for the same chat."""
        for one in heard.came:
            self._came(heard.chat, one)
        for one in heard.went:
            self._memory.chats.leave(heard.chat.id, one.key)
            self._present[heard.chat.id].discard(one.key)
        view = self._memory.view(heard.who, heard.chat)
        if not view.enabled or heard.who is None or not heard.text.strip():
            return []  # no identity, or a bot: do not learn or reply
        self._came(heard.chat, heard.who)
        said = self._said(view, heard, (heard.chat.id, heard.who.key))
        turns = [(name_of(heard.who), heard.text), *(("", text) for text in said)]
        self._recent[heard.chat.id].extend(turns)
        return said

    def _said(self, view: tacit.View, heard: Heard, here: tuple[str, str]) -> list[str]:
        if heard.text.startswith("/"):
            return [self._command(view, heard.text.split(), here)]
        if heard.edited:  # remove what the old text taught
            view.unlearn(heard.message)
            self._recent[heard.chat.id].clear()
        settled = self._settled(view, heard.text, here)
        if settled:
            return [settled, *self._asks(view, here)]
        answers = heard.to_bot and not heard.edited
        said = self._answer(view, heard, [*self._recent[heard.chat.id]]) if answers else ""
        refused = self._learned(view, heard)
        return [*([said] if said else []), *refused, *self._asks(view, here)]

    def _learned(self, view: tacit.View, heard: Heard) -> list[str]:
        """Learn from a message once, even if the channel repeats it; return refusals."""
        message = tacit.Message("user", heard.text, id=heard.message)
        accepted = view.once(f"{heard.update}/learn").learn([message])
        self._memory.jobs.wait_for_learning(thread=heard.chat.id)  # to ask about it now
        secrets = (one.replace("_", " ") for one in accepted.refused)
        return [f"That looks like a {one}. I do not keep those." for one in secrets]

    def _asks(self, view: tacit.View, here: tuple[str, str]) -> Iterator[str]:
        """Ask about one proposal at a time. Only the person asked can answer, in this chat."""
        waiting = view.proposals.list()
        if not waiting or self._asked.get(here) == waiting[0].id:
            return
        self._asked[here] = waiting[0].id
        asks = "May others hear this?" if waiting[0].widens else "Should I remember this?"
        yield f"{asks} {waiting[0].content} (yes or no)"

    def _settled(self, view: tacit.View, text: str, here: tuple[str, str]) -> str:
        """Apply a plain yes or no to the last question."""
        word = text.strip(" .!").casefold()
        if here not in self._asked or word not in YES + NO:
            return ""
        id = self._asked.pop(here)
        try:
            (view.proposals.approve if word in YES else view.proposals.decline)(id)
        except tacit.NotFound:
            return "That question is settled already."
        return "I will." if word in YES else "I will not."

    def _command(self, view: tacit.View, words: list[str], here: tuple[str, str]) -> str:
        if words[0] == "/memory":
            found = view.list(limit=20)
            self._listed[here] = [one.id for one in found]
            lines = (f"{number}. {one.content}" for number, one in enumerate(found, 1))
            return "\n".join(lines) or "No memories found."
        ids = self._listed.get(here, [])
        if words[0] == "/forget" and words[-1].isdecimal() and 1 <= int(words[-1]) <= len(ids):
            try:
                view.forget(ids[int(words[-1]) - 1])
            except tacit.NotFound:
                return "That is not yours to forget."
            self._recent.clear()  # recent messages may repeat the forgotten text
            return "Forgotten."
        return "/memory lists what I know here; /forget with a number from that list forgets it."

    def _came(self, chat: tacit.Chat, who: tacit.Requester) -> None:
        """Add a new member and clear recent messages, which were not said to that person."""
        present = self._present[chat.id]
        if chat.kind is tacit.ChatKind.GROUP and who.key not in present and not who.is_bot:
            self._memory.chats.join(chat.id, who.key)
            present.add(who.key)
            self._recent[chat.id].clear()


def plainly(view: tacit.View, heard: Heard, before: Sequence[Turn]) -> str:  # noqa: ARG001
    """Answer without a model: return recalled memories word for word."""
    if "?" not in heard.text:
        return ""
    found = view.recall(heard.text, top_k=2)
    return "; ".join(one.memory.content for one in found) or "I do not know."


HOURS = {"name": "opening_hours", "description": "When the club house is open."}


def by_model(model: str) -> Answer:
    """Answer with a model that has the requester's memory tools and one custom tool."""
    from openai import OpenAI, OpenAIError

    client = OpenAI()

    def talk(view: tacit.View, heard: Heard, before: Sequence[Turn]) -> str:
        alone = heard.chat.kind is tacit.ChatKind.PRIVATE
        kit = openai_kit(view, only=READING + CHANGING if alone else READING, message=heard.message)
        tools: list[Any] = [*kit.tools, {"type": "function", "function": HOURS}]
        messages = prompt(view, heard, before)
        for _ in range(ROUNDS_MAX_COUNT):
            reply = client.chat.completions.create(model=model, messages=messages, tools=tools)
            said = reply.choices[0].message
            if not said.tool_calls:
                return said.content or ""
            messages += [said, *kit.answer(said, leave=[HOURS["name"]])]
            for call in said.tool_calls:
                if call.type == "function" and call.function.name == HOURS["name"]:
                    opened = {"role": "tool", "tool_call_id": call.id, "content": "Daily, 10-18."}
                    messages.append(opened)
        return "I got lost in thought."

    def answer(view: tacit.View, heard: Heard, before: Sequence[Turn]) -> str:
        try:
            return talk(view, heard, before)
        except OpenAIError as error:
            note(error)
            return "I cannot think just now."

    return answer


def prompt(view: tacit.View, heard: Heard, before: Sequence[Turn]) -> list[Any]:
    """Build the prompt from stable to changing parts, so that its prefix can be cached."""
    fresh = view.fresh(heard.text).text
    assert heard.who is not None
    return [
        {"role": "system", "content": f"{RULES}\n\n{view.block().text}"},
        *(
            {"role": "user", "content": line(name, text)} if name else {"role": "assistant", "content": text}
            for name, text in before
        ),
        {"role": "user", "content": f"{fresh}\n\n{line(name_of(heard.who), heard.text)}".strip()},
    ]


def name_of(who: tacit.Requester) -> str:
    return " ".join((who.name or "somebody").split())[:64]


def line(name: str, text: str) -> str:
    """Indent further lines, so that no text can imitate the line of another speaker."""
    return f"{name}: " + "\n  ".join(text.splitlines())


def note(error: Exception) -> None:
    """Print the type only: an error may quote a message or the token."""
    print(f"{type(error).__name__}, going on", file=sys.stderr)


# On Telegram.


class Refused(Exception):
    """Telegram refused the call, for example because the user blocked the bot."""


class Telegram:
    def __init__(self, token: str) -> None:
        import httpx2

        logging.getLogger("httpx2").setLevel(logging.WARNING)  # its log would contain the token
        url = os.environ.get("TELEGRAM_API_URL", "https://api.telegram.org")
        self._http = httpx2.Client(base_url=f"{url}/bot{token}/", timeout=40)
        self.troubles = (httpx2.HTTPError, ValueError, Refused)

    def call(self, method: str, **given: object) -> Any:
        answer = self._http.post(method, data=given).json()
        if not answer["ok"]:
            raise Refused(answer.get("description"))
        return answer["result"]

    def run(self, bot: Bot) -> None:
        """Run until Ctrl-C. Polling for the next update confirms the previous one; an unconfirmed
        update is sent again, and `once` keeps it from being learned twice."""
        me, offset = self.call("getMe"), 0
        kinds = json.dumps(["message", "edited_message"])
        while True:
            try:
                asked = {"offset": offset, "timeout": 25, "allowed_updates": kinds}
                for update in self.call("getUpdates", **asked):
                    self._done(bot, update, me)
                    offset = update["update_id"] + 1
            except (*self.troubles, tacit.StoreBusy, tacit.StoreUnavailable) as error:
                note(error)
                time.sleep(5)

    def _done(self, bot: Bot, update: dict[str, Any], me: dict[str, Any]) -> None:
        try:
            heard = read(update, me)
            said = bot.hear(heard) if heard is not None else []
        except (tacit.StoreBusy, tacit.StoreUnavailable):
            raise  # the update itself is valid: retry
        except (tacit.TacitError, KeyError) as error:
            note(error)  # skip it: one bad update must not block all others
            return
        for text in said:
            with suppress(Refused):  # the chat is gone or blocked the bot
                chat = heard.chat.id.removeprefix("telegram:") if heard else ""
                self.call("sendMessage", chat_id=chat, text=text[:4_096])


def read(update: dict[str, Any], me: dict[str, Any]) -> Heard | None:
    message = update.get("message") or update.get("edited_message")
    if message is None or message["chat"]["type"] not in ("private", "group", "supergroup"):
        return None
    # A channel or an anonymous admin has no identity.
    who = None if "sender_chat" in message else person(message["from"])
    id, private = f"telegram:{message['chat']['id']}", message["chat"]["type"] == "private"
    # Forwarded text is not the sender's statement: do not learn from it.
    text = "" if "forward_origin" in message else message.get("text", "")
    named = f"@{me['username']}"
    to_us = message.get("reply_to_message", {}).get("from", {}).get("id") == me["id"]
    left = message.get("left_chat_member")
    return Heard(
        update=f"telegram/{me['id']}/{update['update_id']}",
        chat=tacit.Chat.private(id) if private else tacit.Chat.group(id, [who] if who else []),
        who=who,
        text=text.replace(named, "").strip(),
        message=str(message["message_id"]),
        to_bot=private or to_us or named in text or text.startswith("/"),
        edited="edited_message" in update,
        came=tuple(person(one) for one in message.get("new_chat_members", ())),
        went=(person(left),) if left else (),
    )


def person(user: dict[str, Any]) -> tacit.Requester:
    return tacit.Requester(f"telegram:{user['id']}", name=user.get("first_name"), is_bot=user.get("is_bot", True))


# Without Telegram: a scripted conversation.

ALICE = tacit.Requester("telegram:1001", name="Alice")
BOB = tacit.Requester("telegram:2002", name="Bob")
GROUP = tacit.Chat.group("telegram:-5", [ALICE, BOB])
SAID = (
    (ALICE, "private", "I am looking for a new job"),
    (ALICE, "private", "yes"),
    (ALICE, "private", "Don't tell Bob, but I bought a telescope for his birthday"),
    (ALICE, "private", "yes"),
    (BOB, "group", "Our standup is at 9:30"),
    (BOB, "group", "yes"),
    (ALICE, "group", "@bot When is our standup?"),
    (ALICE, "group", "@bot What job am I looking for?"),
    (BOB, "private", "What is there for my birthday?"),
    (BOB, "private", "My password is correct-horse-7!"),
    (ALICE, "private", "/memory"),
    (ALICE, "private", "/forget 1"),
    (ALICE, "private", "/forget 3"),
)


def transcript(bot: Bot) -> None:
    for number, (who, room, text) in enumerate(SAID, 1):
        heard = Heard(
            update=f"transcript/{number}",
            chat=GROUP if room == "group" else tacit.Chat.private(who.key),
            who=who,
            text=text.removeprefix("@bot").strip(),
            message=str(number),
            to_bot=room == "private" or "@bot" in text,
        )
        print(f"[{room}] {who.name}: {text}")
        for answer in bot.hear(heard):
            print(f"[{room}] bot:", "\n  ".join(answer.splitlines()))


def main() -> None:
    os.environ.setdefault("TACIT_LEARN_CONFIRM", "new")  # ask before storing new facts
    token, model = os.environ.get("TELEGRAM_BOT_TOKEN"), os.environ.get("MODEL")
    answer = by_model(model) if model else plainly
    if token:
        with tacit.open() as memory, suppress(KeyboardInterrupt):
            Telegram(token).run(Bot(memory, answer))
    else:
        with tacit.open("sqlite://", embedder=None) as memory:  # same output everywhere
            transcript(Bot(memory, answer))


if __name__ == "__main__":
    main()
