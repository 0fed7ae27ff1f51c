"""A busy day in a memory, with a canary in every field that people or operators can write."""

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.settings import (
    EventsSettings,
    LanguageSettings,
    LearnSettings,
    MemorySettings,
    MetricsSettings,
    SessionsSettings,
    Settings,
)
from tests.contract.rooms import group, private
from tests.llm.endpoint import Endpoint

CANARY = "zqcanary"
ALICE = tacit.Requester(f"telegram:{7331733177}", name=f"Alice{CANARY}", username=f"a_{CANARY}")
BOB = tacit.Requester(f"slack:T{CANARY}:U{CANARY}", name=f"Bob{CANARY}")
ROOM = f"web:room-{CANARY}"
CATEGORY = f"{CANARY}_category"
SPACE = f"{CANARY}-space"
SECRETS = (CANARY, "7331733177", SPACE, CATEGORY)


def settings(exporter: str, endpoint: Endpoint | None = None, **more: object) -> Settings:
    language = LanguageSettings()
    if endpoint is not None:
        language = LanguageSettings(
            provider="openai",
            model=f"model-{CANARY}",
            base_url=endpoint.url,
            retries=0,
            price_in_per_million=2.0,
            price_out_per_million=4.0,
        )
    return Settings(
        metrics=MetricsSettings(exporter=exporter),  # type: ignore[arg-type]
        learn=LearnSettings(workers=0, debounce_seconds=0),
        language=language,
        memory=MemorySettings(categories=(CATEGORY,), sessions=SessionsSettings(keep=True)),
        events=EventsSettings(),
        **more,  # type: ignore[arg-type]
    )


def busy_day(memory: Memory) -> None:
    """Everything that a view does, well and badly."""
    memory = memory.space(SPACE)
    alice, bob = private(memory, ALICE, thread=f"thread-{CANARY}"), private(memory, BOB)
    id = alice.remember(
        f"The {CANARY} is mine", category=CATEGORY, about=[f"Zoe {CANARY}"], tags=[CANARY],
        agent=CANARY, run=CANARY, role=CANARY, message=CANARY,
    ).id  # fmt: skip
    other = alice.put(CATEGORY, CANARY, f"value {CANARY}").id
    alice.update(id, f"The {CANARY} is still mine")
    alice.relate(id, other, CANARY)
    alice.pin(id)
    alice.set_visibility(id, "public_ok")
    alice.withhold_from(id, [f"Yves {CANARY}"])
    alice.people.name(f"Zoe {CANARY}", f"Z{CANARY}")
    _read(alice, id)
    for refused in (bob.forget, bob.update, bob.erase, bob.pin):
        _refused(lambda act=refused: act(id))
    _refused(lambda: alice.update(id, "x", if_version=9))
    _refused(lambda: alice.remember("", category=CATEGORY))
    room = group(memory, ALICE, ROOM, here=(ALICE, BOB))
    said = room.remember(f"Room {CANARY}", visibility="room", sensitivity="public").id
    alice.explain(id, tacit.Chat.group(ROOM, participants=[ALICE, BOB]))
    alice.explain(other, tacit.Chat.group(ROOM, participants=[ALICE, BOB]))
    alice.record([Message("user", f"I said {CANARY}")], session=CANARY)
    alice.learn([Message("user", f"My favourite word is {CANARY}", id=CANARY)])
    memory.jobs.wait_for_learning()
    alice.forget(said)
    alice.restore(said)
    alice.erase(said)
    bob.wipe()


def _read(view: object, id: str) -> None:
    assert isinstance(view, tacit.memory.View)
    view.recall(f"what about {CANARY}?")
    view.query(CANARY)
    view.block()
    view.fresh(CANARY)
    view.get(CATEGORY, CANARY)
    view.list(CATEGORY)
    view.show(id)
    view.history(id)
    list(view.export())
    list(view.audit.export_history())


def _refused(act: object) -> None:
    assert callable(act)
    try:
        act()
    except tacit.TacitError:
        return
    raise AssertionError("it was to be refused")
