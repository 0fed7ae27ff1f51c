"""Templates. Whatever people wrote is escaped, set apart from the direction of the text around it,
and shown as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from tacit.surfaces.console import ages, wording
from tacit.surfaces.console.assets import Assets


class Rendering:
    def __init__(self, assets: Assets) -> None:
        self._environment = Environment(
            loader=PackageLoader("tacit.surfaces.console", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(asset=assets.url, wording=wording)
        self._environment.filters.update(
            age=ages.age,
            full=ages.full,
            stamp=ages.stamp,
            flat=wording.flat,
            excerpt=wording.excerpt,
            problem=wording.problem,
        )

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        return self._environment.get_template(template).render(values)
