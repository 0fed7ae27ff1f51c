"""What the model says on each page that asks one, request by request."""

from tests.llm.endpoint import Reply, Seen, Step, answered
from tests.llm.replies import Called, calls, talks


def after(heard: str, step: Step) -> Step:
    """Says so once it was told this."""

    def say(seen: Seen) -> Reply:
        return answered(step, seen) if heard in seen.said else Reply(status=400)

    return say


SCRIPTS: dict[str, tuple[Step, ...]] = {
    "docs/files.md": (
        calls(
            Called(
                "memory",
                {"command": "create", "path": "/memories/plans.md", "file_text": "- We go to Lisbon in April\n"},
            )
        ),
        after("created", talks("I wrote it down.")),
    ),
    "docs/language.md": (
        after("Be brief.", calls(Called("memory_query", {"query": "morning"}), Called("wipe", {}))),
        after("I drink green tea in the morning", after("That call could not be read.", talks("Green tea."))),
    ),
}
