"""Who is asking from outside: the one place that turns what a caller claims into a view.

`claims_of(headers)` reads, `admit(memory, claims, local=…)` judges; no framework is needed here.
"""

from __future__ import annotations

from tacit.surfaces.access.admission import Admitted, admit, local_person
from tacit.surfaces.access.claims import Claims, claims_of
from tacit.surfaces.access.links import console_at, link_to
from tacit.surfaces.access.origins import (
    allowed_hosts,
    allowed_origins,
    host_allowed,
    is_loopback,
    origin_allowed,
)
from tacit.surfaces.access.rates import RateLimiter

__all__ = [
    "Admitted",
    "Claims",
    "RateLimiter",
    "admit",
    "allowed_hosts",
    "allowed_origins",
    "claims_of",
    "console_at",
    "host_allowed",
    "is_loopback",
    "link_to",
    "local_person",
    "origin_allowed",
]
