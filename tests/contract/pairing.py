"""Alice's other identities, and how they come to be hers: a code, an answer, a yes."""

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import private

LAPTOP = tacit.Requester("slack:T1:UA")
TABLET = tacit.Requester("matrix:alice")
WEB = tacit.Requester("acct:alice")
WRONG = "ABCDE-23456"


def asked(memory: Memory, offering: tacit.Requester, accepting: tacit.Requester) -> View:
    """A code was given and accepted: the view that may say yes."""
    view = private(memory, offering)
    private(memory, accepting).account.accept_link(view.account.offer_link().code)
    return view


def linked(memory: Memory, offering: tacit.Requester, accepting: tacit.Requester) -> tacit.Link:
    return asked(memory, offering, accepting).account.confirm_link()
