"""A view: memory as one requester may use it in one chat. The only way to read or write."""

from __future__ import annotations

from tacit.views.exporting import ViewExport
from tacit.views.learning import ViewLearning
from tacit.views.notes import ViewNotes
from tacit.views.pages import ViewPages
from tacit.views.recalling import ViewRecall
from tacit.views.telling import ViewTelling
from tacit.views.writing import ViewWrites


class View(ViewExport, ViewTelling, ViewRecall, ViewWrites, ViewLearning, ViewNotes, ViewPages):
    """Made by `Memory.view`. Cheap: nothing is read until you ask."""

    enabled = True
    why_disabled: str | None = None
