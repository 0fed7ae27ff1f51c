"""A task for tests: it ticks off things one after another, and a thing that is ticked off twice, or
not at all, shows."""

from collections.abc import Callable

from sqlalchemy import Connection, select, update

from tacit.lifecycle.tasks import SaveProgress, StepProgress, TaskStep
from tacit.memory import Memory
from tacit.storage.engine import insert_missing
from tacit.storage.schema import learning_days

TASK = "summarise"  # whose name it goes by
_T = learning_days.c
_DAY = "9999-12-31"  # counts of days long gone are swept away


def ticking(memory: Memory, length: int, hear: Callable[[str, int], None] = lambda _, __: None) -> TaskStep:
    """`hear` is told the space and the number of each thing before it is ticked off."""
    database = memory._storage.database

    def step(space: str, before: StepProgress, save: SaveProgress) -> StepProgress:
        number = int(before.cursor or 0)
        hear(space, number)

        def work(connection: Connection) -> StepProgress:
            row = {"space_id": space, "owner": f"thing {number}", "day": _DAY, "writes": 0}
            insert_missing(connection, learning_days, space, [row])
            once_more = update(learning_days).where(_T.space_id == space, _T.owner == row["owner"], _T.day == _DAY)
            connection.execute(once_more.values(writes=_T.writes + 1))
            after = before.advance(str(number + 1) if number + 1 < length else None, ticked=1)
            save(connection, after)
            return after

        return database.write(work)

    return step


def ticked(memory: Memory, space: str = "default") -> list[int]:
    """How often each of them was, in their order."""
    rows = select(_T.owner, _T.writes).where(_T.space_id == space, _T.day == _DAY)
    with memory._storage.database.read() as connection:
        found = {int(owner.split()[1]): writes for owner, writes in connection.execute(rows)}
    return [found.get(number, 0) for number in range(max(found, default=-1) + 1)]
