"""Every file of routes, in the order in which they stand in the document."""

from __future__ import annotations

from tacit.surfaces.rest import (
    changes,
    checkpoints,
    files,
    health,
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
    remembering.routes,
    items.routes,
    moving.routes,
    recalling.routes,
    learning.routes,
    people.routes,
    linking.routes,
    checkpoints.routes,
    files.routes,
    rooms.routes,
    operating.routes,
    health.routes,
)
