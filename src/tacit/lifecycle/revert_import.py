"""An import is reverted: what it made is forgotten, but for what somebody changed since."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tacit.clock import to_micros
from tacit.errors import NotFound
from tacit.lifecycle.forget import forget
from tacit.records.drafts import RevertedImport
from tacit.storage import imports, memories, retention
from tacit.storage.memories import Transaction
from tacit.storage.relations import list_insights

_AT_ONCE_COUNT = 200
_WHY = "its import was reverted"


def step(w: Transaction, run: str, restorable_days: int) -> tuple[RevertedImport, bool]:
    """Some of it, in one transaction, and whether there is more. How far it has got is noted with
    the run: whoever goes on after an interruption tells the whole, and nothing is imported under
    its name meanwhile."""
    imports.lock_imports(w)
    found = imports.find_imports(w.connection, w.space, w.request.own_identities, run)
    if not found:
        raise NotFound("import")
    newest = found[0]
    some = imports.list_imported(w, run, _AT_ONCE_COUNT)
    _forget(w, [one.memory_id for one in some if one.is_untouched], restorable_days)
    gone = [one.token for one in some if one.is_untouched]
    left = [one.token for one in some if not one.is_untouched]
    imports.mark_undone(w, run, gone, left)
    forgotten = newest.forgotten + len(gone)
    changed = newest.changed + sum(one.is_changed for one in some)
    more = len(some) == _AT_ONCE_COUNT
    if some or any(one.run.reverted_at is None for one in found):
        at = None if more else to_micros(w.at)
        state = {"reverting": more, "reverted_at": at}
        for one in found:
            imports.update_import(w, one, state)
        imports.update_import(w, newest, {"forgotten": forgotten, "changed": changed})
    return RevertedImport(run=run, forgotten=forgotten, changed=changed), more


def _forget(w: Transaction, ids: Sequence[str], restorable_days: int) -> None:
    retention.forget_memories(w, ids, w.at + timedelta(days=restorable_days), _WHY)
    for id in list_insights(w, ids):  # what rests on them goes with them
        insight = memories.get_for_update(w, id)
        if insight is not None:
            forget(w, insight, restorable_days)
