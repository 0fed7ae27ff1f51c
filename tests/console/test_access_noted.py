"""Whatever an operator's page shows of somebody, they are told of: pages that come later, too."""

from tacit.console.app import PAGE_GROUPS
from tacit.console.requests import FRAGMENT_HEADER
from tacit.console.site import PageAccess, PageRoute
from tests.console.asking import Caller
from tests.console.conftest import World
from tests.console.seeding import ALICE, BOB, OPERATOR, person

PAGES = [
    page
    for topic in PAGE_GROUPS
    for page in topic.routes
    if page.method == "GET" and page.who in (PageAccess.BOTH, PageAccess.OPERATOR)
]
WORDS = "urprise for Alice"


def addresses(page: PageRoute, id: str) -> list[str]:
    """Of Bob and what is his: as it stands, and asked for what makes it fail half-way."""
    who = f"ext:{BOB}" if page.path.startswith("/people") else id
    path = page.path.replace("{id}", who)
    return [path, f"{path}?by={ALICE}&question=surprise&words=surp", f"{path}?cursor=nonsense"]


def test_what_an_operator_sees_is_told_to_whom_it_concerns(seeded: World) -> None:
    bob = person(seeded.memory, BOB)
    (own,) = (one for one in bob.browse() if WORDS in one.content)
    operator = Caller(seeded, seeded.cookie(operator=OPERATOR))
    shown = set()
    for number, path in enumerate(one for page in PAGES for one in addresses(page, own.id)):
        before = {one.id for one in bob.audit.access_log()}
        found = operator.get(path, **({FRAGMENT_HEADER: "1"} if number % 2 else {}))
        assert found.status_code in (200, 404, 422), path
        told = {one.id for one in bob.audit.access_log()} - before
        assert told or WORDS not in found.text, path
        shown |= {path} if WORDS in found.text else set()
    assert {"/", "/graph", f"/memories/{own.id}"} <= {path.partition("?")[0] for path in shown}
