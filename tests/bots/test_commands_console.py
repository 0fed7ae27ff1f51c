"""/console: a link for whoever asks, where there is a page that they reach."""

import pytest

import tacit
from tacit.bots import texts
from tacit.errors import SignInRefused
from tacit.settings import ConsoleSettings
from tests.bots.desk import ALICE, TEAM, Desk

URL = "https://memory.example.org"


def token_of(desk: Desk) -> str:
    told = desk.say(ALICE, "/console")
    (link,) = (span.text for span in told.spans if span.style == "link")
    assert told.alone
    where, _, token = link.partition("/sign-in?token=")
    assert where == URL
    return token


def test_the_link_signs_in_whoever_asked_for_it_and_once(desk: Desk) -> None:
    desk.console = ConsoleSettings(url=URL)
    token = token_of(desk)
    assert desk.memory.console.sign_in(token).sitting.person == ALICE.key
    with pytest.raises(SignInRefused):
        desk.memory.console.sign_in(token)
    assert token_of(desk) != token
    assert "once, within 10 minutes." in desk.say(ALICE, "/console").text


def test_without_a_page_that_people_reach_it_says_so(desk: Desk) -> None:
    for console in (ConsoleSettings(), ConsoleSettings(url=URL, enabled=False)):
        desk.console = console
        assert desk.say(ALICE, "/console").text == texts.NO_CONSOLE
        assert desk.say(ALICE, "/help").text == texts.HELP
    desk.console = ConsoleSettings(url=URL)
    assert desk.say(ALICE, "/help").text == texts.HELP + texts.HELP_CONSOLE
    assert texts.HELP_CONSOLE in desk.say(ALICE, "/start").text


def test_nobody_is_sent_a_link_where_others_listen_or_where_nobody_is_known(desk: Desk) -> None:
    desk.console = ConsoleSettings(url=URL)
    assert desk.say(ALICE, "/console", TEAM).text == texts.PRIVATE_ONLY
    somewhere = tacit.Chat.unknown("telegram:5")
    assert desk.say(None, "/console", somewhere).text == texts.MEMORY_DISABLED
    assert not desk.channel.sent
