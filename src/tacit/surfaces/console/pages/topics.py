"""Every file of pages, in the order of the navigation."""

from __future__ import annotations

from tacit.surfaces.console.pages import (
    activity,
    chosen,
    doctor,
    erasing,
    graph,
    hearing,
    jobs,
    keys,
    looks,
    memories,
    memory,
    people,
    prompt,
    proposals,
    reaching,
    rewording,
    settings,
    signing,
    undoing,
    uniting,
)
from tacit.surfaces.console.routes import Pages

TOPICS: tuple[Pages, ...] = (
    memories.pages,
    chosen.pages,
    memory.pages,
    rewording.pages,
    reaching.pages,
    erasing.pages,
    undoing.pages,
    hearing.pages,
    people.pages,
    uniting.pages,
    graph.pages,
    activity.pages,
    proposals.pages,
    prompt.pages,
    looks.pages,
    jobs.pages,
    doctor.pages,
    keys.pages,
    settings.pages,
    signing.pages,
)
