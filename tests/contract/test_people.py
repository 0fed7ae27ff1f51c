"""People: by name, username, alias or what they are to somebody; merged, and apart again."""

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.accounts import Name, NameKind
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, FAMILY, group, kept, private, said


def person_called(memory: Memory, who: tacit.Requester, name: str) -> str:
    """The person:… id behind one of somebody's names."""
    (found,) = [person.id for person in private(memory, who).people.list() if name in {n.text for n in person.names}]
    return found


def test_somebody_new_becomes_a_person_to_whoever_named_them(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("Sarah is my wife", about=["Sarah"])
    view.remember("Sarah likes tulips", about=["sarah"])
    view.remember("Tom is my son", about=["Tom"])
    for spelling in ("Sarah", "SARAH", "sarah", "Ｓarah"):
        assert said(view.people.about(spelling)) == ["Sarah is my wife", "Sarah likes tulips"]
    sarah = person_called(memory, ALICE, "Sarah")
    assert sarah.startswith("person:")
    assert said(view.people.about(sarah)) == ["Sarah is my wife", "Sarah likes tulips"]
    assert said(view.people.about("nobody I know")) == []
    private(memory, ALICE).remember("Sarah is my wife", about=["Sarah"])
    bob = private(memory, BOB)
    assert said(bob.people.about("Sarah")) == []
    bob.remember("Sarah is my sister", about=["Sarah"])
    assert person_called(memory, ALICE, "Sarah") != person_called(memory, BOB, "Sarah")
    assert "Sarah is my wife" not in repr([bob.people.about("Sarah"), bob.people.list()])


def test_a_person_is_found_by_alias_username_and_relation(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("Carl likes golf", about=["Carl"])
    named = view.people.name("Carl", "my boss", "relation")
    view.people.name("Carl", "Charly", NameKind.ALIAS)
    view.people.name("Carl", "carl_77", kind="username")
    assert named.names == (Name(kind=NameKind.NAME, text="Carl"), Name(kind=NameKind.RELATION, text="my boss"))
    for name in ("Carl", "my boss", "My Boss", "charly", "carl_77", "@carl_77"):
        assert said(view.people.about(name)) == ["Carl likes golf"], name
    assert view.people.name("Carl", "Charly").id == named.id
    assert said(private(memory, BOB).people.about("my boss")) == []


def test_whom_a_channel_names_is_found_where_they_are(memory: Memory) -> None:
    alice = group(memory, ALICE)
    alice.remember("Bob runs", about=["Bob"], **ALOUD)
    bob = group(memory, BOB)
    bob.remember("Alice swims", about=["@alice_l"], **ALOUD)
    assert said(bob.people.about("Bob")) == ["Bob runs"]
    assert said(bob.people.about(ALICE.key)) == ["Alice swims"]
    assert said(bob.people.about("alice_l")) == ["Alice swims"]
    names = {name.text for person in alice.people.list() for name in person.names}
    assert names == {"Alice", "alice_l", "Bob"}
    # Carol is not here: whoever is called so is somebody Alice alone knows.
    group(memory, CAROL, FAMILY, here=(CAROL,)).remember("I am Carol")
    alice.remember("Carol knits", about=["Carol"], **ALOUD)
    assert said(alice.people.about(CAROL.key)) == []


def test_me_is_the_one_who_speaks(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "I run", about=["me"])
    assert view.show(id).subjects == {"ext:telegram:1001"}
    assert view.show(id).trust == "stated"
    view.remember("I swim")  # about nobody else: about the speaker
    assert said(view.people.about(ALICE.key)) == ["I run", "I swim"]


def test_a_name_of_two_people_is_refused_and_says_how_to_go_on(memory: Memory) -> None:
    twins = [tacit.Requester(f"telegram:{n}", name="Sam") for n in (31, 32)]
    view = group(memory, ALICE, here=(ALICE, *twins))
    view.remember("hello")
    with pytest.raises(tacit.InvalidInput, match="2 people"):
        view.remember("Sam runs", about=["Sam"])
    with pytest.raises(tacit.InvalidInput, match="2 people"):
        view.people.about("Sam")
    with pytest.raises(tacit.InvalidInput, match="2 people"):
        view.remember("a party", withheld_from=["Sam"])
    view.remember("Sam runs", about=["telegram:31"])
    assert said(private(memory, ALICE).people.about("telegram:31")) == ["Sam runs"]
    assert said(private(memory, ALICE).people.about("telegram:32")) == []
    assert memory.admin.stats().memories == 2


def test_about_gathers_what_several_owners_said(memory: Memory) -> None:
    here = (ALICE, BOB, CAROL)
    group(memory, ALICE, here=here).remember("Bob runs", about=["Bob"], **ALOUD)
    group(memory, CAROL, here=here).remember("Bob sings", about=["Bob"], **ALOUD)
    private(memory, ALICE).remember("Bob snores", about=[BOB.key])
    group(memory, BOB, here=here).remember("I cook", **ALOUD)
    for who in here:
        view = group(memory, who, here=here)
        assert said(view.people.about("Bob")) == ["Bob runs", "Bob sings", "I cook"]
    assert "Bob snores" in said(private(memory, ALICE).people.about(BOB.key))
    pages = view.people.about("Bob", limit=2)
    assert len(pages) == 2
    assert len(view.people.about("Bob", limit=2, cursor=pages.cursor)) == 1


def test_merged_people_are_one_and_an_undo_parts_them(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("Liz plays chess", about=["Liz"])
    view.remember("Elizabeth lives in York", about=["Elizabeth"])
    liz, elizabeth = (person_called(memory, ALICE, n) for n in ("Liz", "Elizabeth"))
    link = memory.admin.merge_people(liz, elizabeth, actor="alice")
    assert link.kind == "merge"
    both = ["Elizabeth lives in York", "Liz plays chess"]
    assert said(view.people.about("Liz")) == said(view.people.about("Elizabeth")) == both
    (merged,) = [p for p in view.people.list() if liz in p.identities]
    assert {name.text for name in merged.names} == {"Elizabeth", "Liz"}
    with pytest.raises(tacit.Conflict):
        memory.admin.merge_people(liz, elizabeth)
    memory.admin.unmerge_people(liz)
    assert said(view.people.about("Liz")) == ["Liz plays chess"]
    assert said(view.people.about("Elizabeth")) == ["Elizabeth lives in York"]
    assert [link.holds for link in memory.admin.links(liz)] == [False]
    with pytest.raises(tacit.NotFound, match="no such link here"):
        memory.admin.unmerge_people(liz)


def test_somebody_known_by_name_turns_out_to_be_a_member(memory: Memory) -> None:
    here = (ALICE, BOB)
    family = group(memory, ALICE, FAMILY, here=(ALICE,))
    id = kept(family, "Robert runs", about=["Robert"], kind="knowledge", **ALOUD)
    bob = private(memory, BOB)
    assert said(bob.list()) == []
    memory.admin.merge_people(person_called(memory, ALICE, "Robert"), BOB.key)
    assert said(bob.list()) == ["Robert runs"]  # public, lasting and about him: P3b
    assert said(group(memory, ALICE, here=here).people.about("Bob")) == []
    assert bob.show(id).content == "Robert runs"
    memory.admin.unmerge_people(person_called(memory, ALICE, "Robert"))
    assert said(bob.list()) == []


def test_people_with_identities_of_their_own_are_not_merged_away(memory: Memory) -> None:
    private(memory, ALICE).remember("x", about=["Sarah"])
    sarah = person_called(memory, ALICE, "Sarah")
    with pytest.raises(tacit.InvalidInput, match="identity of their own"):
        memory.admin.merge_people(BOB.key, sarah)
    with pytest.raises(tacit.InvalidInput):
        memory.admin.merge_people("Sarah", BOB.key)
    with pytest.raises(tacit.InvalidInput):
        memory.admin.merge_people(sarah, sarah)
    memory.admin.merge_people(sarah, BOB.key)
    with pytest.raises(tacit.InvalidInput, match="identity of their own"):
        memory.admin.merge_people(sarah, CAROL.key)


def test_a_link_is_not_undone_as_a_merge_nor_the_reverse(memory: Memory) -> None:
    private(memory, ALICE).remember("x", about=["Sarah"])
    sarah = person_called(memory, ALICE, "Sarah")
    memory.admin.link(ALICE.key, "acct:a")
    memory.admin.merge_people(sarah, BOB.key)
    with pytest.raises(tacit.NotFound):
        memory.admin.unmerge_people(ALICE.key)
    assert memory.admin.links(ALICE.key)[0].holds
    assert memory.admin.links(sarah)[0].holds


def test_names_travel_with_the_account_that_gave_them(memory: Memory) -> None:
    private(memory, ALICE).remember("Sarah is my wife", about=["Sarah"])
    memory.admin.link(ALICE.key, "acct:alice")
    web = private(memory, tacit.Requester("acct:alice"))
    assert said(web.people.about("Sarah")) == ["Sarah is my wife"]
    web.remember("Sarah likes tulips", about=["Sarah"])
    assert len(web.people.about("Sarah")) == 2
    memory.admin.unlink(ALICE.key)
    assert said(web.people.about("Sarah")) == []


def test_who_is_named_in_a_group_is_not_told_there_by_what_they_are_called_in_private(memory: Memory) -> None:
    group(memory, BOB).remember("Hello")
    private(memory, ALICE).people.name(BOB.key, "my nemesis", "relation")
    for view in (group(memory, ALICE), *[group(memory, ALICE).once("a key")] * 2):
        told = [name.text for name in view.people.name(BOB.key, "@Bobby").names]
        assert sorted(told) == ["Bob", "Bobby"]
    own = private(memory, ALICE).people.name(BOB.key, "Bobby")
    assert sorted(name.text for name in own.names) == ["Bob", "Bobby", "my nemesis"]
