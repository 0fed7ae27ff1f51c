"""/link and /unlink: a code used once, a yes on both sides, and nothing shared before."""

import tacit
from tacit.bots import texts
from tacit.bots.messages import OutboundMessage
from tacit.memory import View
from tests.bots.desk import ALICE, BOB, CAROL, Channel, Desk, alone, labels
from tests.contract.rooms import SetClock

PHONE = tacit.Requester("telegram:1009", name="Alice's other phone")


def knows(desk: Desk, who: tacit.Requester) -> set[str]:
    view = desk.memory.view(who, alone(who))
    assert isinstance(view, View)
    return {one.content for one in view.list()}


def code_of(told: OutboundMessage) -> str:
    (code,) = (span.text for span in told.spans if span.style == "code")
    return code


def test_two_accounts_become_one_after_two_yeses_and_two_again_at_once(desk: Desk) -> None:
    desk.memory.view(ALICE, alone(ALICE)).remember("prefers tea")
    desk.memory.view(CAROL, alone(CAROL)).remember("plays the piano")
    offer = desk.say(ALICE, "/link")
    assert desk.pressed(ALICE, offer, texts.LINK_SENT).text == texts.LINK_NOT_YET
    sure = desk.say(CAROL, f"/link {code_of(offer).lower()}")
    assert sure.text == texts.LINK_CONFIRM
    assert desk.pressed(ALICE, offer, texts.LINK_SENT).text == texts.LINK_NOT_YET
    waits = desk.pressed(CAROL, sure, texts.LINK_BOTH_MINE)
    assert waits.text == f"{texts.LINK_WAITS}telegram:1001."
    assert not desk.channel.sent  # another channel: this one does not reach it
    assert knows(desk, CAROL) == {"plays the piano"}
    asked = desk.pressed(ALICE, offer, texts.LINK_SENT)
    assert asked.text == f"slack:T1:U3{texts.LINK_ASKED}"
    assert desk.say(ALICE, "/link").text == asked.text
    assert desk.pressed(ALICE, asked, texts.LINK_BOTH_MINE).text == texts.LINKED
    assert knows(desk, ALICE) == knows(desk, CAROL) == {"prefers tea", "plays the piano"}
    both = desk.say(ALICE, "/memory").text
    assert "prefers tea" in both
    assert "plays the piano" in both
    assert "Forgotten: 'plays the piano'" in desk.say(ALICE, "/forget piano").text
    assert desk.say(ALICE, "/undo").text == "Restored: 'plays the piano'"
    desk.memory.view(CAROL, alone(CAROL)).remember("sings as the account")
    assert desk.say(ALICE, "/forget sings").text == "Forgotten: 'sings as the account'. /undo restores it."
    assert desk.say(CAROL, "/unlink").text == texts.UNLINKED
    assert knows(desk, CAROL) == {"plays the piano"}
    assert knows(desk, ALICE) == {"prefers tea"}
    assert desk.say(CAROL, "/unlink").text == texts.NOTHING_TO_UNLINK


def test_after_unlinking_nothing_older_is_undone_in_place_of_what_stays_behind(desk: Desk, clock: SetClock) -> None:
    desk.memory.view(CAROL, alone(CAROL)).remember("plays chess")
    clock.forward(seconds=1)
    desk.memory.admin.link(CAROL.key, "acct:7")
    clock.forward(seconds=1)
    desk.memory.view(CAROL, alone(CAROL)).remember("likes figs")
    clock.forward(seconds=1)
    assert "stays with the account" in desk.say(CAROL, "/unlink").text
    assert desk.say(CAROL, "/undo").text == texts.NOTHING_TO_UNDO
    assert knows(desk, CAROL) == {"plays chess"}
    clock.forward(seconds=1)
    desk.memory.view(CAROL, alone(CAROL)).remember("sings")
    assert desk.say(CAROL, "/undo").text == "No longer remembered: 'sings'"


def test_in_one_channel_whoever_made_the_code_is_told_that_it_was_used(desk: Desk) -> None:
    offer = desk.say(ALICE, "/link")
    sure = desk.say(PHONE, f"/link {code_of(offer)}")
    desk.pressed(PHONE, sure, texts.LINK_BOTH_MINE)
    ((to, question),) = desk.channel.sent
    assert to is not None
    assert to.key == ALICE.key
    assert question.alone
    assert question.text == f"telegram:1009{texts.LINK_ASKED}"
    assert desk.pressed(ALICE, question, texts.LINK_BOTH_MINE).text == texts.LINKED
    to, told = desk.channel.sent[-1]
    assert to is not None
    assert (to.key, told.alone) == (PHONE.key, True), "who entered the code is told, too"
    assert told.text == f"{texts.LINKED_WITH}telegram:1001{texts.LINKED_WARNING}"


def test_a_yes_is_for_whom_it_was_asked_about_and_for_nobody_later(desk: Desk) -> None:
    def asked_about(who: tacit.Requester) -> OutboundMessage:
        sure = desk.say(who, f"/link {code_of(desk.say(ALICE, '/link'))}")
        desk.pressed(who, sure, texts.LINK_BOTH_MINE)
        return desk.say(ALICE, "/link")

    old = asked_about(PHONE)
    desk.say(PHONE, "/link no")
    new = asked_about(BOB)
    assert desk.pressed(ALICE, old, texts.LINK_BOTH_MINE).text == texts.LINK_NOTHING_WAITS
    assert desk.pressed(ALICE, new, texts.LINK_BOTH_MINE).text == texts.LINKED


def test_a_code_is_taken_also_where_the_other_side_cannot_be_told() -> None:
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory, Channel(away=True))
        sure = desk.say(PHONE, f"/link {code_of(desk.say(ALICE, '/link'))}")
        waits = desk.pressed(PHONE, sure, texts.LINK_BOTH_MINE)
        assert waits.text.startswith(texts.LINK_WAITS)
        assert desk.say(ALICE, "/link yes").text == texts.LINKED


def test_a_no_of_either_side_ends_it(desk: Desk) -> None:
    desk.memory.view(CAROL, alone(CAROL)).remember("plays the piano")
    for who_says_no in ("in words", "by its button", "the other side"):
        sure = desk.say(CAROL, f"/link {code_of(desk.say(ALICE, '/link'))}")
        waits = desk.pressed(CAROL, sure, texts.LINK_BOTH_MINE)
        asked = desk.say(ALICE, "/link")
        if who_says_no == "in words":
            told = desk.say(ALICE, "/link no")
        elif who_says_no == "by its button":
            told = desk.pressed(ALICE, asked, texts.NO_BUTTON)
        else:
            told = desk.pressed(CAROL, waits, texts.LINK_STOP)
        assert told.text == texts.NOT_LINKED
        assert desk.say(ALICE, "/link yes").text == texts.LINK_NOTHING_WAITS
        assert knows(desk, ALICE) == set()


def test_wrong_old_own_and_used_codes_read_alike(desk: Desk, clock: SetClock) -> None:
    offer = desk.say(ALICE, "/link")

    def tried(who: tacit.Requester, code: str) -> str:
        told = desk.say(who, f"/link {code}")
        if texts.LINK_BOTH_MINE in labels(told):
            told = desk.pressed(who, told, texts.LINK_BOTH_MINE)
        return told.text

    assert tried(BOB, "what is this") == texts.LINK_CODE_INVALID
    assert tried(BOB, "AAAAA-AAAAA") == texts.LINK_CODE_INVALID
    assert tried(ALICE, code_of(offer)) == texts.LINK_CODE_INVALID
    clock.forward(seconds=601)
    assert tried(BOB, code_of(offer)) == texts.LINK_CODE_INVALID
    for _ in range(4):
        tried(BOB, "AAAAA-AAAAA")
    assert tried(BOB, "AAAAA-AAAAA").startswith("Too many wrong codes")


def test_who_is_linked_already_is_told_to_unlink_first(desk: Desk) -> None:
    desk.memory.admin.link(CAROL.key, "acct:7")
    sure = desk.say(CAROL, f"/link {code_of(desk.say(ALICE, '/link'))}")
    assert desk.pressed(CAROL, sure, texts.LINK_BOTH_MINE).text == texts.LINK_TAKEN
