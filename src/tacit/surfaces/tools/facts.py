"""Tools for facts in words: `add_to_memory`, `update_memory`, `add_memory`."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.memory import View, make_inert, quote_memory, wrap_in_fence
from tacit.records.memory import Kind, Sensitivity
from tacit.surfaces.tools.schemas import flag, several, takes, words
from tacit.surfaces.tools.telling import waiting
from tacit.surfaces.tools.tool import Answer, Tool

FACT_MIN_CHARS, FACT_MAX_CHARS = 5, 500
CATEGORIES = ("person", "preference", "context", "project")
# What a person can say of themselves and others; the rest is concluded by the system.
TYPES = tuple(kind.value for kind in Kind if kind is not Kind.INSIGHT)
_BOUNDS = {"minLength": FACT_MIN_CHARS, "maxLength": FACT_MAX_CHARS}
_NO_SECRETS = " Leave passwords, keys and card numbers out; they are refused."


def fact_tools(
    view: View, message: str | None = None, least: Sensitivity | None = None
) -> tuple[Tool, ...]:
    return (
        _add_to_memory(view, message, least),
        _update_memory(view, message, least),
        _add_memory(view, message, least),
    )


def _add_to_memory(view: View, message: str | None, least: Sensitivity | None) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        content, category = given["content"], given["category"]
        about = [given["subject"]] if "subject" in given else None
        if not given.get("force"):
            found = view.suggest_update(content, category=category, about=about)
            if found is not None:
                said = make_inert(found.content)
                suggestion = {"id": found.id, "content": said, "reason": found.reason}
                return Answer(
                    text=f"Not stored, because {found.id} may be what this changes ({found.reason})"
                    f":\n{wrap_in_fence([said])}\nCall update_memory with that id; or, if both hold, "
                    "call this again with force.",
                    data={"stored": False, "suggestion": suggestion},
                )
        done = view.remember(
            content,
            category=category,
            about=about,
            sensitivity=least,
            message=message,
            by_model=True,
        )
        if (waits := waiting(done)) is not None:
            return waits
        return Answer(
            text=f"Stored as {done.id}.",
            data={"stored": True, "id": done.id, "version": done.version},
        )

    return Tool(
        name="add_to_memory",
        title="Add to memory",
        description="Keep something for later conversations: a fact about somebody, a preference, "
        "what the person works on. If they said it in passing, ask them first; if they asked you "
        "to remember it, do so. Passing moods and what concerns one task alone are not worth it."
        + _NO_SECRETS,
        parameters=takes(
            {
                "content": words("The fact, as one sentence that stands on its own", **_BOUNDS),
                "category": words(
                    "person: about somebody; preference: how they like things; context: what keeps "
                    "coming up; project: about a project",
                    enum=list(CATEGORIES),
                ),
                "subject": words(
                    "Whom or what it is about, by name", maxLength=limits.NAME_MAX_CHARS
                ),
                "force": flag("Store it although something alike is known"),
            },
            "content",
            "category",
        ),
        act=act,
        needs=("read", "write"),
    )


def _update_memory(view: View, message: str | None, least: Sensitivity | None) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        before = view.show(given["memory_id"])
        done = view.update(
            before.id, given["content"], sensitivity=least, message=message, by_model=True
        )
        if (waits := waiting(done)) is not None:
            return waits
        old = quote_memory(before)
        return Answer(
            text=f"Updated {done.id}. Before, it said:\n{wrap_in_fence([old])}",
            data={
                "id": done.id,
                "version": done.version,
                "old_content": old,
                "content": given["content"],
            },
        )

    return Tool(
        name="update_memory",
        title="Update a memory",
        description="Change a memory when what it says has changed; its earlier wording stays in "
        "its history. Use this instead of adding a second one that contradicts it. No need to ask.",
        parameters=takes(
            {
                "memory_id": words(
                    "The 8 characters of its id",
                    minLength=limits.ID_CHARS,
                    maxLength=limits.ID_CHARS,
                ),
                "content": words("What it says from now on", **_BOUNDS),
            },
            "memory_id",
            "content",
        ),
        act=act,
        needs=("read", "write"),
        idempotent=True,
    )


def _add_memory(view: View, message: str | None, least: Sensitivity | None) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        done = view.remember(
            given["content"],
            kind=given.get("type", Kind.KNOWLEDGE),
            about=given.get("about"),
            sensitivity=least or given.get("sensitivity"),
            message=message,
            by_model=True,
        )
        if (waits := waiting(done)) is not None:
            return waits
        return Answer(text=f"Stored as {done.id}.", data={"id": done.id, "version": done.version})

    return Tool(
        name="add_memory",
        title="Add a memory",
        description="Keep a fact, said by which type it is: that settles how long it lasts. "
        "context, event, task and observation fade after some days; the others stay." + _NO_SECRETS,
        parameters=takes(
            {
                "content": words("The fact", minLength=1, maxLength=limits.CONTENT_MAX_CHARS),
                "type": words(
                    "What it is; knowledge if you do not say",
                    enum=list(TYPES),
                    default=Kind.KNOWLEDGE.value,
                ),
                "about": several(
                    "Whom it is about: names, or keys like telegram:123. Left out: the person who "
                    "speaks",
                    words("Somebody", maxLength=limits.NAME_MAX_CHARS),
                ),
                "sensitivity": words(
                    "sensitive for health, money and the like: it never reaches a group",
                    enum=[Sensitivity.PERSONAL.value, Sensitivity.SENSITIVE.value],
                ),
            },
            "content",
        ),
        act=act,
        needs=("write",),
    )
