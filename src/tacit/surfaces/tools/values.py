"""Tools for values under keys: `memory_get`, `memory_put`, `memory_list`, `memory_delete`,
`memory_delete_namespace`."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.memory import View, quote_memory, wrap_in_fence
from tacit.records.memory import Sensitivity, Visibility
from tacit.surfaces.tools.schemas import number, takes, words
from tacit.surfaces.tools.telling import as_data, told, waiting
from tacit.surfaces.tools.tool import Answer, Tool

_CATEGORY = {"category": "namespace"}  # the same thing by the name that the library has for it
_NAMESPACE = words(
    "Where it is filed: profile, preference, fact, project, task_state, person, context, goal, …",
    maxLength=limits.CATEGORY_MAX_CHARS,
)
_KEY = words("The name of the value, for example timezone", maxLength=limits.KEY_MAX_CHARS)
_NOTHING = "There is no such value that may be said here."


def value_tools(
    view: View, message: str | None = None, least: Sensitivity | None = None
) -> tuple[Tool, ...]:
    put = _put(view, message, least)
    return (_get(view), put, _list(view), _delete(view), _delete_namespace(view))


def _get(view: View) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        memory = view.get(given["namespace"], given["key"])
        if memory is None:
            return Answer(text=_NOTHING, data={"memory": None})
        return Answer(text=wrap_in_fence([quote_memory(memory)]), data={"memory": told(memory)})

    return Tool(
        name="memory_get",
        title="Get a value",
        description="Get the value that is remembered under a key, as far as it may be said in "
        "this conversation.",
        parameters=takes({"namespace": _NAMESPACE, "key": _KEY}, "namespace", "key"),
        act=act,
        needs=("read",),
        idempotent=True,
        argument_aliases=_CATEGORY,
    )


def _put(view: View, message: str | None, least: Sensitivity | None) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        namespace, key = given["namespace"], given["key"]
        public = given.get("visibility") == Visibility.PUBLIC_OK
        asked = None if public else given.get("visibility")
        done = view.put(
            namespace,
            key,
            given["value"],
            visibility=asked,
            sensitivity=least,
            message=message,
            by_model=True,
        )
        if (waits := waiting(done)) is not None:
            return waits
        text = f"Kept: {namespace}/{key}."
        if public:
            view.propose_public(namespace, key)
            text += (
                " Whether others may hear it is for the person to say, in their private chat: "
                "they are asked there. Until then it is theirs alone."
            )
        return Answer(text=text, data={"id": done.id, "version": done.version, "asked": public})

    return Tool(
        name="memory_put",
        title="Set a value",
        description="Set the one value of a key, for example profile/timezone. A value that there "
        "is becomes an earlier version. It stays private; to ask for public_ok asks the person. A "
        "name, pronouns, a home or a language waits until the person says yes. "
        "Leave passwords, keys and card numbers out; they are refused.",
        parameters=takes(
            {
                "namespace": _NAMESPACE,
                "key": _KEY,
                "value": words("The value, as text", maxLength=limits.CONTENT_MAX_CHARS),
                "visibility": words(
                    "private_only, which is how a new value starts; or public_ok, if the person "
                    "said that others may hear it: then they are asked to confirm that",
                    enum=[Visibility.PRIVATE_ONLY.value, Visibility.PUBLIC_OK.value],
                ),
            },
            "namespace",
            "key",
            "value",
        ),
        act=act,
        needs=("write",),
        idempotent=True,
        argument_aliases=_CATEGORY,
    )


def _list(view: View) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        page = view.list(
            given.get("namespace"),
            prefix=given.get("prefix"),
            limit=given.get("limit", limits.PAGE_DEFAULT_COUNT),
            cursor=given.get("cursor"),
        )
        data = {"memories": [told(memory) for memory in page], "cursor": page.cursor}
        return as_data(data, data)

    return Tool(
        name="memory_list",
        title="List what is remembered",
        description="List what is remembered and may be said in this conversation, newest first.",
        parameters=takes(
            {
                "namespace": _NAMESPACE,
                "prefix": words("How the key begins", maxLength=limits.KEY_MAX_CHARS),
                "limit": number(
                    "At most so many",
                    1,
                    limits.PAGE_MAX_COUNT,
                    default=limits.PAGE_DEFAULT_COUNT,
                ),
                "cursor": words("Where the last answer stopped, to go on from there"),
            }
        ),
        act=act,
        needs=("read",),
        idempotent=True,
        argument_aliases=_CATEGORY,
    )


def _delete(view: View) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        return _forgotten(view.forget_key(given["namespace"], given["key"]))

    return Tool(
        name="memory_delete",
        title="Forget a value",
        description="Forget the value of a key. The person can restore it for a while.",
        parameters=takes({"namespace": _NAMESPACE, "key": _KEY}, "namespace", "key"),
        act=act,
        needs=("write",),
        destructive=True,
        idempotent=True,
        argument_aliases=_CATEGORY,
    )


def _delete_namespace(view: View) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        return _forgotten(view.forget_category(given["namespace"]))

    return Tool(
        name="memory_delete_namespace",
        title="Forget a namespace",
        description="Forget everything of the person's that is filed in a namespace. Only when "
        "they ask for exactly that. They can restore it for a while.",
        parameters=takes({"namespace": _NAMESPACE}, "namespace"),
        act=act,
        needs=("write",),
        destructive=True,
        idempotent=True,
        argument_aliases=_CATEGORY,
    )


def _forgotten(count: int) -> Answer:
    text = f"Forgotten: {count}." if count else "There was nothing to forget."
    return Answer(text=text, data={"forgotten": count})
