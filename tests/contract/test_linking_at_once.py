"""Codes at the same moment, from two processes: what one does, no other does, too."""

import threading
from collections.abc import Callable

import tacit
from tacit import limits
from tacit.records.accounts import LinkWaiting
from tests.contract.conftest import Open
from tests.contract.pairing import LAPTOP, WRONG, asked
from tests.contract.rooms import ALICE, BOB, private


def at_once(*acts: Callable[[], object]) -> list[object]:
    """What each came to, done at the same moment."""
    together, told = threading.Barrier(len(acts)), list[object]()

    def do(act: Callable[[], object]) -> None:
        together.wait()
        try:
            told.append(act())
        except tacit.TacitError as error:
            told.append(type(error))

    threads = [threading.Thread(target=do, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def test_tries_at_the_same_moment_are_all_counted(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    views = [private(memory, LAPTOP) for memory in memories]
    views[0].remember("I am here")
    count = limits.LINK_TRIES_MAX_COUNT + 3
    told = at_once(*(lambda n=n: views[n % 2].account.accept_link(WRONG) for n in range(count)))
    assert told.count(tacit.NotFound) == limits.LINK_TRIES_MAX_COUNT
    assert told.count(tacit.TooManyRequests) == 3


def test_of_two_who_accept_at_the_same_moment_one_does(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    code = private(memories[0], ALICE).account.offer_link().code
    told = at_once(
        lambda: private(memories[0], LAPTOP).account.accept_link(code),
        lambda: private(memories[1], BOB).account.accept_link(code),
    )
    assert tacit.NotFound in told
    found = private(memories[1], ALICE).account.pending_link()
    assert found is not None
    assert [one for one in told if isinstance(one, LinkWaiting)] == [
        LinkWaiting(identity=ALICE.key, expires_at=found.expires_at)
    ]


def test_of_two_who_confirm_at_the_same_moment_one_does(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    asked(memories[0], ALICE, LAPTOP)
    told = at_once(*(private(memory, ALICE).account.confirm_link for memory in memories))
    assert tacit.NotFound in told
    assert len(memories[0].admin.links(ALICE.key)) == len(memories[0].admin.links(LAPTOP.key)) == 1
    assert private(memories[1], LAPTOP).account.identities() == private(memories[0], ALICE).account.identities()


def test_confirming_crosswise_at_the_same_moment_ends_in_one_account(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    phone, laptop = private(memories[0], ALICE), private(memories[1], LAPTOP)
    codes = phone.account.offer_link().code, laptop.account.offer_link().code
    laptop.account.accept_link(codes[0])
    phone.account.accept_link(codes[1])
    told = at_once(phone.account.confirm_link, laptop.account.confirm_link)
    assert tacit.NotFound in told
    assert phone.account.identities() == laptop.account.identities()
    assert len(phone.account.identities()) == 3
