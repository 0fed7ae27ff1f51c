"""List people, show and name one of them, merge and unmerge two."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from tacit import Page, limits
from tacit.console import labels, people
from tacit.console.requests import PageRequest
from tacit.console.site import FlashText, PageAccess, PageGroup
from tacit.errors import InvalidInput, NotFound
from tacit.records.accounts import NameKind, Person
from tacit.records.queries import Search

PEOPLE_PATH = "/people"
_UNMERGE_PATH = f"{PEOPLE_PATH}/unmerge"
pages = PageGroup(
    flashes={
        "named": FlashText("Name added. Only you and operators of this space see it."),
        "merged": FlashText("Merged.", undo=_UNMERGE_PATH),
        "unmerged": FlashText("The merge was undone."),
        "not-merged": FlashText("Nothing was changed: they are not merged, or an operator merged them."),
    }
)
NAME_KIND_CHOICES = (NameKind.ALIAS, NameKind.NAME, NameKind.USERNAME, NameKind.RELATION)


@pages.get(PEOPLE_PATH, who=PageAccess.BOTH, nav="People")
def show_people(asked: PageRequest) -> Response:
    asked, found = asked.attempt(lambda: _list_people(asked), Page())
    return asked.render(
        "people.html",
        fragment="people_found.html",
        found=found,
        names=labels.labels_for(asked.visitor),
        directory=people,
    )


def _list_people(asked: PageRequest) -> Page[Person]:
    name, cursor = asked.query.line("name"), asked.query.line("cursor")
    return people.list_known_people(asked.visitor, name, cursor)


@pages.get(f"{PEOPLE_PATH}/{{id}}", who=PageAccess.BOTH)
def show_person(asked: PageRequest, id: str) -> Response:
    visitor = asked.visitor
    person = people.get_known_person(visitor, id)
    names = labels.labels_for(visitor)
    return asked.render(
        "person.html",
        person=person,
        is_me=names.is_mine(person.id),
        merged=people.list_unmergeable(visitor, person),
        names=names,
        directory=people,
        found=visitor.api.people.about(person.id, limit=limits.PAGE_DEFAULT_COUNT, cursor=asked.query.line("cursor")),
        count=visitor.api.browse_count(Search(about=person.id)),
        kinds={kind.value: people.NAME_KIND_LABELS[kind].capitalize() for kind in NAME_KIND_CHOICES},
        most_chars=limits.NAME_MAX_CHARS,
    )


@pages.post(f"{PEOPLE_PATH}/{{id}}/name", who=PageAccess.PERSON, again=show_person)
def post_name(asked: PageRequest, id: str) -> Response:
    person = people.get_known_person(asked.visitor, id)
    kind = asked.form.choice("kind", NameKind) or NameKind.ALIAS
    named = asked.visitor.view.people.name(person.id, asked.form.line("name") or "", kind)
    return asked.redirect(person_url(named.id), flash="named")


def person_url(id: str) -> str:
    return f"{PEOPLE_PATH}/{quote(id, safe='')}"


# Merging two people after a confirmation, and undoing it.


@pages.get(f"{PEOPLE_PATH}/{{id}}/merge", who=PageAccess.BOTH)
def show_merge_form(asked: PageRequest, id: str) -> Response:
    """Show people to merge with, or once one is chosen, the confirmation."""
    person = people.get_known_person(asked.visitor, id)
    into = asked.query.line("into")
    if into is not None and asked.wrong is None:
        try:
            other = people.get_known_person(asked.visitor, into)
            source, target = people.order_merge(asked.visitor, person, other)
            return asked.render("merge_confirm.html", person=person, source=source, target=target, directory=people)
        except InvalidInput as wrong:
            asked = asked.with_error(wrong)
    return _show_candidates(asked, id)


def _show_candidates(asked: PageRequest, id: str) -> Response:
    person = people.get_known_person(asked.visitor, id)
    asked, found = asked.attempt(lambda: _list_people(asked), Page())
    return asked.render(
        "merge.html",
        fragment="merge_found.html",
        person=person,
        found=found,
        some=[other for other in found if _is_mergeable(asked, person, other)],
        directory=people,
    )


def _is_mergeable(asked: PageRequest, person: Person, other: Person) -> bool:
    try:
        people.order_merge(asked.visitor, person, other)
    except InvalidInput:
        return False
    return True


@pages.post(f"{PEOPLE_PATH}/{{id}}/merge", who=PageAccess.BOTH, again=_show_candidates)
def post_merge(asked: PageRequest, id: str) -> Response:
    visitor = asked.visitor
    person = people.get_known_person(visitor, id)
    other = people.get_known_person(visitor, asked.form.line("into") or "")
    source, target = people.order_merge(visitor, person, other)
    merged = people.merge_people(visitor, source, target)
    token = merged.removeprefix(people.NAME_ONLY_PREFIX)  # flash cookies allow no colon in ids
    return asked.redirect(person_url(target.id), flash="merged", ids=[token])


@pages.post(f"{PEOPLE_PATH}/{{id}}/unmerge", who=PageAccess.BOTH)
def post_unmerge(asked: PageRequest, id: str) -> Response:
    person = people.get_known_person(asked.visitor, id)
    return _unmerge_all(asked, people.list_unmergeable(asked.visitor, person), person.id)


@pages.post(_UNMERGE_PATH, who=PageAccess.BOTH)
def post_undo_merge(asked: PageRequest) -> Response:
    ids = asked.form.many("id")
    if len(ids) != 1:
        raise NotFound("page")
    merged = f"{people.NAME_ONLY_PREFIX}{ids[0]}"
    return _unmerge_all(asked, [merged], merged)


def _unmerge_all(asked: PageRequest, ids: list[str], back: str) -> Response:
    undone = 0
    for one in ids:
        try:
            people.unmerge_person(asked.visitor, one)
            undone += 1
        except (NotFound, InvalidInput):
            continue
    return asked.redirect(person_url(back), flash="unmerged" if undone else "not-merged")
