"""A group bot of your own: it talks with people in a group and in private, learns from what they
say, asks before it keeps what was said in passing, and the group never hears what was private.

Run it, with the conversation that is written down below and no model:

    python examples/group_bot.py

With OPENAI_API_KEY and MODEL set (and OPENAI_BASE_URL for another server) a model answers, with
memory tools; with TELEGRAM_BOT_TOKEN from @BotFather it does so on Telegram, and remembers in
~/.tacit. There is a larger bot, ready to run: `tacit telegram`.

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
# What is new is kept by learning, which asks first: a tool would keep it without.
CHANGING = ("update_memory", "memory_delete")
ROUNDS_MAX_COUNT = 6
RECENT_COUNT = 10  # messages of a chat that a model is shown again
YES, NO = ("yes", "y", "ok", "please do"), ("no", "n", "please don't")


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What a channel brought. Who it was and where is the channel's word, never the text's."""

    update: str  # the channel's id of it: a repeat has the same one
    chat: tacit.Chat
    who: tacit.Requester | None  # None: nobody whom the channel vouches for
    text: str = ""  # the sender's own words alone
    message: str = ""
    to_bot: bool = True
    edited: bool = False
    came: tuple[tacit.Requester, ...] = ()
    went: tuple[tacit.Requester, ...] = ()


Turn = tuple[str, str]  # who and what; no name: it was the bot
Answer = Callable[[tacit.View, Heard, Sequence[Turn]], str]


class Bot:
    def __init__(self, memory: tacit.Memory, answer: Answer) -> None:
        self._memory, self._answer = memory, answer
        self._present: dict[str, set[str]] = defaultdict(set)
        # By chat: what is said in one is shown again in no other.
        self._recent: dict[str, deque[Turn]] = defaultdict(lambda: deque(maxlen=RECENT_COUNT))
        self._asked: dict[tuple[str, str], str] = {}  # by chat and person: what they may answer
        self._listed: dict[tuple[str, str], list[str]] = {}

    def hear(self, heard: Heard) -> list[str]:
        """What is said back, in the same chat."""
        for one in heard.came:
            self._came(heard.chat, one)
        for one in heard.went:
            self._memory.chats.leave(heard.chat.id, one.key)
            self._present[heard.chat.id].discard(one.key)
        view = self._memory.view(heard.who, heard.chat)
        if not view.enabled or heard.who is None or not heard.text.strip():
            return []  # nobody, or a bot: nothing is learned from them, and nothing is told
        self._came(heard.chat, heard.who)
        said = self._said(view, heard, (heard.chat.id, heard.who.key))
        turns = [(name_of(heard.who), heard.text), *(("", text) for text in said)]
        self._recent[heard.chat.id].extend(turns)
        return said

    def _said(self, view: tacit.View, heard: Heard, here: tuple[str, str]) -> list[str]:
        if heard.text.startswith("/"):
            return [self._command(view, heard.text.split(), here)]
        if heard.edited:  # what it said before is not said any more
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
        """Once, however often the channel brings it."""
        message = tacit.Message("user", heard.text, id=heard.message)
        accepted = view.once(f"{heard.update}/learn").learn([message])
        self._memory.jobs.wait_for_learning(thread=heard.chat.id)  # so that we can ask about it now
        secrets = (one.replace("_", " ") for one in accepted.refused)
        return [f"That looks like a {one}. I do not keep those." for one in secrets]

    def _asks(self, view: tacit.View, here: tuple[str, str]) -> Iterator[str]:
        """About one thing at a time. Only whom it concerns can answer, where they were asked."""
        waiting = view.proposals.list()
        if not waiting or self._asked.get(here) == waiting[0].id:
            return
        self._asked[here] = waiting[0].id
        asks = "May others hear this?" if waiting[0].widens else "Should I remember this?"
        yield f"{asks} {waiting[0].content} (yes or no)"

    def _settled(self, view: tacit.View, text: str, here: tuple[str, str]) -> str:
        """A plain yes or no to what was asked last."""
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
            return "\n".join(lines) or "Nothing that may be said here."
        ids = self._listed.get(here, [])
        if words[0] == "/forget" and words[-1].isdecimal() and 1 <= int(words[-1]) <= len(ids):
            try:
                view.forget(ids[int(words[-1]) - 1])
            except tacit.NotFound:
                return "That is not yours to forget."
            self._recent.clear()  # what was said lately may be just what is to be forgotten
            return "Forgotten."
        return "/memory tells what I know here; /forget and a number of that list forgets it."

    def _came(self, chat: tacit.Chat, who: tacit.Requester) -> None:
        """Whoever is new begins a new page: what was said before was not said to them."""
        present = self._present[chat.id]
        if chat.kind is tacit.ChatKind.GROUP and who.key not in present and not who.is_bot:
            self._memory.chats.join(chat.id, who.key)
            present.add(who.key)
            self._recent[chat.id].clear()


def plainly(view: tacit.View, heard: Heard, before: Sequence[Turn]) -> str:  # noqa: ARG001
    """Without a model: what comes to mind, word for word."""
    if "?" not in heard.text:
        return ""
    found = view.recall(heard.text, top_k=2)
    return "; ".join(one.memory.content for one in found) or "I do not know."


HOURS = {"name": "opening_hours", "description": "When the club house is open."}


def by_model(model: str) -> Answer:
    """With a model, which has the memory tools of whom it answers, and one of our own."""
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
    """From what never changes to what is new, so that servers can cache the beginning."""
    fresh = view.fresh(heard.text).text
    assert heard.who is not None
    return [
        {"role": "system", "content": f"{RULES}\n\n{view.block().text}"},
        *(
            {"role": "user", "content": line(name, text)}
            if name
            else {"role": "assistant", "content": text}
            for name, text in before
        ),
        {"role": "user", "content": f"{fresh}\n\n{line(name_of(heard.who), heard.text)}".strip()},
    ]


def name_of(who: tacit.Requester) -> str:
    return " ".join((who.name or "somebody").split())[:64]


def line(name: str, text: str) -> str:
    """Further lines stand further in, so that nobody writes one that looks like another's."""
    return f"{name}: " + "\n  ".join(text.splitlines())


def note(error: Exception) -> None:
    """The kind alone: an error may quote what somebody wrote, or the token."""
    print(f"{type(error).__name__}, going on", file=sys.stderr)


# On Telegram.


class Refused(Exception):
    """Telegram does not take it: we were blocked, say."""


class Telegram:
    def __init__(self, token: str) -> None:
        import httpx2

        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log addresses: the token
        url = os.environ.get("TELEGRAM_API_URL", "https://api.telegram.org")
        self._http = httpx2.Client(base_url=f"{url}/bot{token}/", timeout=40)
        self.troubles = (httpx2.HTTPError, ValueError, Refused)

    def call(self, method: str, **given: object) -> Any:
        answer = self._http.post(method, data=given).json()
        if not answer["ok"]:
            raise Refused(answer.get("description"))
        return answer["result"]

    def run(self, bot: Bot) -> None:
        """Until Ctrl-C. An update is confirmed by asking for the next: one that is not done yet
        comes again, and is learned once all the same."""
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
            raise  # nothing is wrong with the update
        except (tacit.TacitError, KeyError) as error:
            note(error)  # a bad one must not hold up all others for good
            return
        for text in said:
            with suppress(Refused):  # there is nobody to tell it to any more
                chat = heard.chat.id.removeprefix("telegram:") if heard else ""
                self.call("sendMessage", chat_id=chat, text=text[:4_096])


def read(update: dict[str, Any], me: dict[str, Any]) -> Heard | None:
    message = update.get("message") or update.get("edited_message")
    if message is None or message["chat"]["type"] not in ("private", "group", "supergroup"):
        return None
    # A channel, or an admin who does not show their name: nobody whom we know.
    who = None if "sender_chat" in message else person(message["from"])
    id, private = f"telegram:{message['chat']['id']}", message["chat"]["type"] == "private"
    # What is forwarded are somebody else's words: no fact about whoever passed it on.
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
    return tacit.Requester(
        f"telegram:{user['id']}", name=user.get("first_name"), is_bot=user.get("is_bot", True)
    )


# Here, with a conversation that is written down.

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
    os.environ.setdefault("TACIT_LEARN_CONFIRM", "new")  # ask before what is new is kept
    token, model = os.environ.get("TELEGRAM_BOT_TOKEN"), os.environ.get("MODEL")
    answer = by_model(model) if model else plainly
    if token:
        with tacit.open() as memory, suppress(KeyboardInterrupt):
            Telegram(token).run(Bot(memory, answer))
    else:
        with tacit.open("sqlite://", embedder=None) as memory:  # by words: the same everywhere
            transcript(Bot(memory, answer))


if __name__ == "__main__":
    main()
