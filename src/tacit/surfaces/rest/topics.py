"""Every file of routes, in the order in which they stand in the document."""

from __future__ import annotations

from tacit.surfaces.rest import (
    activity,
    browsing,
    changes,
    checkpoints,
    files,
    health,
    hearing,
    imports,
    items,
    learning,
    linking,
    memories,
    moving,
    operating,
    people,
    recalling,
    remembering,
    rooms,
)
from tacit.surfaces.rest.routes import Routes

TOPICS: tuple[Routes, ...] = (
    memories.routes,
    changes.routes,
    hearing.routes,
    remembering.routes,
    items.routes,
    moving.routes,
    imports.routes,
    recalling.routes,
    learning.routes,
    people.routes,
    browsing.routes,
    activity.routes,
    linking.routes,
    checkpoints.routes,
    files.routes,
    rooms.routes,
    operating.routes,
    health.routes,
)
