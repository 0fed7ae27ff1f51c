"""The view of nobody: reads are empty, writes do nothing, and it says why."""

import pytest

import tacit
from tacit import SessionDraft
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep
from tacit.settings import MemorySettings, Settings
from tacit.view.view import View, disabled_view
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, TEAM, kept, private

BOT = tacit.Requester("telegram:9", name="Robot", is_bot=True)
ROOMS = [tacit.Chat.private("telegram:9"), tacit.Chat.group(TEAM, ["telegram:9"])]


def check(view: View, id: str) -> None:
    assert not view.enabled
    assert view.why_disabled
    done = view.remember("one")
    assert not done
    assert (done.id, done.state, done.created) == ("", None, False)
    assert not view.put("profile", "k", "v")
    assert not view.update(id, "two")
    view.pin(id)
    view.set_visibility(id, "public_ok")
    view.withhold_from(id, ["telegram:1"])
    view.forget(id)
    view.restore(id)
    assert (view.forget_key("profile", "k"), view.forget_category("profile")) == (0, 0)
    assert (view.erase(id).count, view.wipe().count) == (0, 0)
    assert view.record([tacit.Message("user", "one")]).ids == ()
    assert (view.query("one"), view.block().text, view.fresh("one").text) == ([], "", "")
    assert view.imports.add_lines(['{"content": "x"}']).created == 0
    assert not view.imports.add("r", [tacit.ImportItem(content="x")], source="mem0")
    assert not view.imports.revert("r")
    assert view.imports.preview([{"content": "x"}], source="mem0") == tacit.ImportPreview()
    assert [*view.imports.list()] == []
    assert view.get("profile", "k") is None
    pages = [*view.list(), *view.people.about("Alice")]
    others = [*view.recall("one"), *view.history(id), *view.people.list(), *view.export()]
    others += view.audit.export_history()
    assert (pages, others) == ([], [])
    view.files.write("a.md", "- one")
    view.files.rename("a.md", "b.md")
    view.files.delete("b.md")
    assert (view.files.list(), view.files.sizes()) == ([], {})
    assert view.delta().changes == ()
    assert not view.checkpoints.save({"step": 1})
    assert view.checkpoints.get() is None
    view.checkpoints.delete()
    steps = view.checkpoints.steps
    steps.save(GraphStep(thread="t", id="1", type="x", data=b"-"))
    steps.write("t", "", "1", [])
    steps.copy_thread("t", "u")
    steps.prune(["t"])
    steps.delete_runs(["r"])
    steps.delete_thread("t")
    assert (steps.find("t"), len(steps.list())) == (None, 0)
    view.account.refuse_link()
    assert (view.account.pending_link(), view.account.identities()) == (None, [])
    for link in (view.account.offer_link, view.account.confirm_link, view.account.unlink):
        with pytest.raises(tacit.NotFound):
            link()
    with pytest.raises(tacit.NotFound):
        view.account.accept_link("ABCDE-23456")
    assert not view.unlearn("m1")
    assert not view.once("a").remember("one")
    woken, ended = view.sessions.begin(), view.sessions.end(draft=SessionDraft(facts=("one",)))
    assert (woken.long_term, woken.recent, woken.today) == ((), (), None)
    assert (ended.path, ended.added, ended.note) == ("", 0, None)
    assert (view.graph().nodes, [*view.audit.activity()], view.audit.daily_counts()) == ((), [], ())
    assert ([*view.browse()], view.browse_count(), [*view.audit.access_log()]) == ([], 0, [])
    assert (view.stats().memories, view.count(), view.audience.chats()) == (0, 0, [])
    assert [*view.audience.preview(ROOMS[0])] == []
    for act in (view.show, view.explain, view.audience.of, view.files.read):
        with pytest.raises(tacit.NotFound):
            act(id)
    with pytest.raises(tacit.NotFound):
        view.people.name("Alice", "Al")
    with pytest.raises(tacit.NotFound):
        view.people.merge("person:AAAAAAAA", "person:BBBBBBBB")
    with pytest.raises(tacit.NotFound):
        view.people.unmerge("person:AAAAAAAA")


@pytest.mark.parametrize("chat", ROOMS, ids=["private", "group"])
@pytest.mark.parametrize("nobody", [None, BOT], ids=["no identity", "a bot"])
def test_nobody_and_bots_get_the_disabled_view(
    memory: Memory, nobody: tacit.Requester | None, chat: tacit.Chat
) -> None:
    own = private(memory, ALICE)
    id = kept(own, "Alice's", visibility="public_ok", sensitivity="public")
    view = memory.view(nobody, chat)
    check(view, id)
    assert view.why_disabled is not None
    assert "requester" in view.why_disabled
    found = own.show(id)
    assert (found.content, found.version, found.state) == ("Alice's", 1, "active")
    assert memory.admin.stats().memories == 1
    assert memory.spaces() == ["default"]


def test_memory_that_is_switched_off_disables_every_view(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=Settings(memory=MemorySettings(enabled=False)))
    view = memory.view(ALICE, tacit.Chat.private(ALICE.key))
    check(view, "AAAAAAAA")
    assert view.why_disabled is not None
    assert "memory.enabled" in view.why_disabled
    assert memory.spaces() == []
    assert not memory.space("other").view(ALICE, tacit.Chat.private(ALICE.key)).enabled


def test_a_disabled_view_refuses_arguments_that_no_method_takes() -> None:
    view = disabled_view("off")
    with pytest.raises(TypeError):
        view.show()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        view.get("profile", "name", "more")  # type: ignore[call-arg]


def test_both_views_say_whether_they_are_enabled_and_a_bad_requester_is_an_error(memory: Memory) -> None:
    view = private(memory, ALICE)
    assert view.enabled
    assert view.why_disabled is None
    names = {name for name in dir(View) if not name.startswith("_")}
    disabled = memory.view(None, tacit.Chat.private("telegram:1"))
    assert {name for name in dir(disabled) if not name.startswith("_")} == names
    for key in ("", "alice", "telegram:", "telegram:x", "ext:telegram:1", "person:AAAAAAAA"):
        with pytest.raises(tacit.InvalidInput, match="requester"):
            memory.view(tacit.Requester(key), tacit.Chat.private("telegram:1"))


def test_a_view_of_a_memory_that_was_closed_says_so(database_url: str) -> None:
    memory = tacit.open(database_url, embedder=None)
    view = private(memory, ALICE)
    view.remember("Alice drinks green tea")
    steps = view.checkpoints.steps
    memory.close()
    memory.close()
    for use in (
        lambda: view.remember("Alice drinks coffee"),
        lambda: view.recall("tea"),
        view.list,
        lambda: steps.find("trip"),
        memory.admin.stats,
    ):
        with pytest.raises(tacit.StoreUnavailable, match="was closed; open it again"):
            use()
