"""Memories and people as a picture, and the same as a list: the picture is drawn from the list."""

from __future__ import annotations

from starlette.responses import Response

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records.results import Graph
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.picturing import pictured
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
MOST = limits.GRAPH_NODES_MAX_COUNT


@pages.get("/graph", who=Who.BOTH, nav="Graph")
def show(asked: Asked) -> Response:
    """Some at first, which is quick to draw and to take in, and more where that is asked for."""
    try:
        most = asked.query.integer("most", limits.GRAPH_FIRST_COUNT, 1, MOST)
        found = asked.visitor.api.graph(limit=most)
    except InvalidInput as wrong:
        asked, found = asked.with_error(wrong), Graph()
    return asked.render("graph.html", drawn=pictured(found), most=MOST)
