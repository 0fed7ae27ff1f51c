"""The doctor: each trouble is made for real, found, left alone by a dry run, and mended."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

import tacit
from tacit.lifecycle.doctor.examination import CHECKS
from tacit.memory import Memory
from tacit.notes.mirror import NOTES_CHECK_NAMES as OF_NOTES
from tests.contract.ailing import SETTINGS, break_, dump, live, one
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private, said
from tests.contract.test_state_machine import Life
from tests.contract.troubles import SURPRISE, TEA, TROUBLES
from tests.databases import PostgresDatabases


def live_at(url: str) -> None:
    clock = SetClock()
    with tacit.open(url, clock=clock, settings=SETTINGS, embedder=Table({"tea": [1.0]})) as memory:
        live(memory, clock)
        memory.admin.reembed()


@pytest.fixture(scope="module")
def lived_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lived") / "tacit.db"
    live_at(str(path))
    return path


@pytest.fixture(scope="module")
def lived_database(postgres_databases: PostgresDatabases) -> Iterator[str]:
    url = postgres_databases.create_migrated()
    live_at(url)
    yield url
    postgres_databases.drop(url)


@pytest.fixture(params=["sqlite-file", "postgres"])
def lived(request: pytest.FixtureRequest, opened: Open, clock: SetClock) -> Iterator[Memory]:
    """A copy of what people did once, for a test to break."""
    clock.forward(seconds=2)  # as far as they came
    if request.param == "sqlite-file":
        file = request.getfixturevalue("lived_file")
        folder = file.with_name("lent")  # always the same: its statements are compiled once
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        url = f"sqlite:///{shutil.copy(file, folder / 'tacit.db')}"
        yield opened(url, settings=SETTINGS, embedder=Table({"tea": [1.0]}))
        return
    databases = request.getfixturevalue("postgres_databases")
    url = databases.copy(request.getfixturevalue("lived_database"))
    yield opened(url, settings=SETTINGS, embedder=Table({"tea": [1.0]}))
    databases.drop(url)


def found(memory: Memory, *, repair: bool = False) -> set[str]:
    return {one.check for one in memory.admin.doctor(repair=repair).findings}


def test_nothing_is_wrong_with_what_people_did(lived: Memory) -> None:
    before = dump(lived)
    assert lived.admin.doctor().findings == ()
    assert lived.admin.doctor(repair=True).healthy
    assert dump(lived) == before


@pytest.mark.parametrize("what", TROUBLES)
def test_each_trouble_is_found_left_alone_and_mended(lived: Memory, what: str) -> None:
    trouble = TROUBLES[what]
    if trouble.check == "parked-jobs":
        private(lived, BOB).learn([tacit.Message("user", "I like to bake bread")])
        lived.admin.reembed()
    sqlite = lived._storage.database.dialect.name == "sqlite"
    break_(lived, *((sqlite and trouble.sqlite) or trouble.statements))
    before = dump(lived)
    diagnosis = lived.admin.doctor()
    assert trouble.check in {one.check for one in diagnosis.findings}
    assert not diagnosis.healthy
    assert dump(lived) == before  # a dry run changes nothing

    mended = lived.admin.doctor(repair=True)
    assert mended.healthy, mended
    assert trouble.check in {one.check for one in mended.findings}
    if trouble.afterwards:
        with lived._storage.database.autocommit_connection() as connection:
            for statement in trouble.afterwards:
                connection.exec_driver_sql(statement)
    after = dump(lived)
    assert lived.admin.doctor(repair=True).findings == ()
    assert dump(lived) == after
    assert lived.admin.maintain().healthy


def test_every_check_that_mends_has_a_trouble_here() -> None:
    assert {one.check for one in TROUBLES.values()} == {check.name for check in CHECKS if check.repair is not None}


def test_one_check_alone_leaves_the_others_be(lived: Memory) -> None:
    break_(lived, TROUBLES["the history is lost"].statements[0])
    break_(lived, TROUBLES["a memory is about nobody"].statements[0])
    (finding,) = lived.admin.doctor(repair=True, checks=["history"]).findings
    assert (finding.check, finding.count, finding.repaired) == ("history", 1, 1)
    assert found(lived) == {"people"}


def test_everything_at_once_is_mended_in_one_round(lived: Memory) -> None:
    sqlite = lived._storage.database.dialect.name == "sqlite"
    together = (
        "words are missing",
        "the current version is missing",
        "the beginning of a history is lost",
        "a memory is about nobody",
        "listeners are missing",
        "Bob lives in two towns",
        "a vector is missing",
        "forgotten for ever",
    )
    for trouble in (TROUBLES[name] for name in together):
        break_(lived, *((sqlite and trouble.sqlite) or trouble.statements))
    assert lived.admin.doctor(repair=True).healthy
    assert lived.admin.doctor().findings == ()
    assert lived.admin.maintain().healthy


def test_a_check_that_nobody_knows_is_refused(memory: Memory) -> None:
    strange: list[Any] = [["nonsense"], "words", [1], 7, [[]]]
    for bad in strange:
        with pytest.raises(tacit.InvalidInput, match="each is one of"):
            memory.admin.doctor(checks=bad)


def test_a_finding_tells_ids_and_nothing_that_people_said(lived: Memory) -> None:
    tea = one(lived, "SELECT id FROM memories WHERE content = 'Alice likes tea'")
    for trouble in ("a memory is about nobody", "Zoe is there twice", "listeners are missing"):
        break_(lived, *TROUBLES[trouble].statements)
    findings = {one.check: one for one in lived.admin.doctor().findings}
    assert findings["people"].ids == (tea,)
    told = str(findings).lower()
    assert not any(word in told for word in ("alice", "bob", "zoe", "tea", "telegram", "acct:"))


def test_at_most_twenty_ids_are_told(memory: Memory) -> None:
    for number in range(25):
        private(memory, ALICE).remember(f"thing {number}")
    break_(memory, "DELETE FROM memory_people")
    (finding,) = memory.admin.doctor().findings
    assert (finding.count, len(finding.ids)) == (25, 20)
    assert memory.admin.doctor(repair=True).healthy


def test_what_is_long_due_to_be_purged_is_told_and_not_purged(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.forget(kept(view, "Alice likes tea"))
    clock.forward(days=38)
    (finding,) = memory.admin.doctor(repair=True).findings
    assert (finding.check, finding.count, finding.repairable) == ("overdue-purges", 1, 0)
    assert not memory.admin.doctor().healthy


def test_two_people_of_one_name_of_whom_something_is_told_are_not_merged(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("Ann plays chess", about=["Ann"])
    view.remember("Anna sings", about=["Anna"])
    break_(memory, "UPDATE person_names SET folded = 'ann', name = 'Ann' WHERE folded = 'anna'")
    (finding,) = memory.admin.doctor(repair=True).findings
    assert (finding.check, finding.repairable, finding.repaired) == ("duplicate-people", 0, 0)
    assert memory.admin.doctor().findings == (finding,)


def test_a_merge_of_the_doctor_can_be_undone(lived: Memory) -> None:
    break_(lived, *TROUBLES["Zoe is there twice"].statements)
    lived.admin.doctor(repair=True)
    link = lived.admin.unmerge_people("person:Zoe00002")
    assert link.actor == "doctor"
    assert found(lived) == {"duplicate-people"}


def test_whom_a_secret_is_kept_from_is_no_duplicate(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("Sam plays chess", about=["Sam"])
    view.remember("A party", withheld_from=["Sam", "Kim"])
    view.remember("Kim sings", about=["Kim"])
    assert memory.admin.doctor().findings == ()


def test_what_two_people_say_of_a_thing_is_told_and_stays(lived: Memory) -> None:
    break_(lived, *TROUBLES["Bob lives in two towns"].statements)
    break_(lived, "UPDATE memories SET speaker = 'ext:telegram:1001' WHERE content LIKE '%Berlin%'")
    finding = next(one for one in lived.admin.doctor(repair=True).findings if one.check == "contradictions")
    assert (finding.repairable, finding.repaired) == (0, 0)


def test_a_mended_memory_says_so_in_its_history_and_is_found_again(lived: Memory) -> None:
    break_(lived, *TROUBLES["the speaker is lost"].statements)
    lived.admin.doctor(repair=True)
    view = private(lived, tacit.Requester("acct:alice"))
    (tea,) = [one for one in view.list(limit=100) if "tea" in one.content]
    last = view.history(tea.id)[-1]
    assert (last.actor, last.detail) == ("doctor", {"fields": "speaker"})


def test_repair_lets_nobody_hear_more(lived: Memory) -> None:
    """Withheld from somebody by one side alone: both are believed."""
    break_(lived, *TROUBLES["one of two withheld from is not indexed"].statements)
    lived.admin.doctor(repair=True)
    assert "A surprise for Bob" not in said(group(lived, BOB).list(limit=100))


def test_listeners_come_back_where_the_chat_proves_them_and_others_heard_nothing(lived: Memory) -> None:
    before = dump(lived)["audience_people"]
    break_(lived, "DELETE FROM audience_people")
    lived.admin.doctor(repair=True)
    assert dump(lived)["audience_people"] == before
    break_(lived, *TROUBLES["listeners are others than heard it"].statements)
    lived.admin.doctor(repair=True)
    assert "ext:telegram:9" not in str(dump(lived)["audience_people"])


def test_a_list_of_people_that_cannot_be_read_is_left_for_an_operator(lived: Memory) -> None:
    break_(lived, f"UPDATE memories SET withheld_from = '?' WHERE id = {SURPRISE}")
    diagnosis = lived.admin.doctor(repair=True)
    assert [(one.check, one.repaired) for one in diagnosis.findings if one.left] == [("people", 0)]


def test_a_memory_that_is_confidential_by_itself_is_told_and_stays(lived: Memory) -> None:
    break_(lived, f"UPDATE memories SET confidential = true WHERE id = {TEA}")
    (finding,) = lived.admin.doctor(repair=True).findings
    assert (finding.check, finding.repaired) == ("confidential", 0)


def test_another_space_is_another_patient(lived: Memory) -> None:
    other = lived.space("elsewhere")
    private(other, ALICE).remember("Alice likes tea")
    break_(lived, "DELETE FROM memory_people WHERE space_id = 'default'")
    assert other.admin.doctor().findings == ()
    assert other.admin.doctor(repair=True).healthy
    assert found(lived) == {"people"}


def test_a_repair_that_is_cut_short_goes_on_the_next_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        private(memory, ALICE).remember(f"thing {number}")
    break_(memory, "DELETE FROM memory_people")
    real, calls = type(memory._storage).write_as, []

    def dying(self: object, *args: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(type(memory._storage), "write_as", dying)
    with pytest.raises(KeyboardInterrupt):
        memory.admin.doctor(repair=True)
    (left,) = memory.admin.doctor().findings
    assert left.count == 70
    assert memory.admin.doctor(repair=True).healthy
    assert memory.admin.doctor().findings == ()


@pytest.mark.timeout(600)
def test_nothing_is_wrong_after_a_random_life(memory: Memory, clock: SetClock) -> None:
    """Of what is erased, sets of listeners may be left; that is all there ever is to mend."""

    class Here(Life):
        def teardown(self) -> None:
            assert {one.check for one in self.memory.admin.doctor().findings} <= {"unused-audiences"}
            assert self.memory.admin.doctor(repair=True).healthy
            assert self.memory.admin.doctor().findings == ()

    Here.opened, Here.clock = memory, clock
    run_state_machine_as_test(
        Here, settings=settings(max_examples=8, stateful_step_count=30, suppress_health_check=list(HealthCheck))
    )


def test_every_check_is_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "doctor.md"
    rows = re.findall(r"^\| `([a-z-]+)` \|", page.read_text(), re.MULTILINE)
    assert rows == [*(check.name for check in CHECKS), *OF_NOTES]
