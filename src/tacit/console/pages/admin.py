"""Pages for operators: jobs, doctor, API keys and settings."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from typing import Any

from starlette.responses import Response

import tacit
from tacit import Page, limits
from tacit.clock import system_clock
from tacit.console import labels
from tacit.console.requests import PageRequest
from tacit.console.site import FlashText, PageAccess, PageGroup, TaskName
from tacit.errors import Conflict, InvalidInput, NotFound, TacitError
from tacit.records.accounts import Key, Scope
from tacit.records.results import Diagnosis, JobStatus, LearningQueueStatus
from tacit.settings import Settings, category_names, variable_name
from tacit.settings.load import declared_fields, file_only_keys
from tacit.settings.sections import CategorySetting

pages = PageGroup(
    flashes={
        "job-ran": FlashText("The job finished."),
        "job-begun": FlashText("The job is running. This page shows its progress."),
        "job-failed": FlashText("The job failed. It will be retried when it is due."),
        "learning-again": FlashText("Retrying one turn.", many="Retrying {count} turns."),
        "nothing-to-learn": FlashText("There are no failed turns."),
        "revoked": FlashText("The key was revoked."),
    }
)

# Jobs and the learning queue.

JOBS_PATH = "/jobs"
_RUN_COUNT_KEY = "run"
JOB_DESCRIPTIONS = {
    "expire": "Expire memories that are past their date, unused or over the limit",
    "purge": "Delete memories that were forgotten long ago",
    "consolidate": "Merge duplicate memories",
    "reflect": "Infer insights about people",
    "reembed": "Compute missing vectors",
    "summarise": "Summarize conversations that have ended",
}
JOB_STATES = {
    "idle": ("Scheduled", ""),
    "running": ("Running", "good"),
    "waiting": ("Due, not started", "care"),
    "failed": ("Failed, will be retried", "bad"),
    "off": ("Manual", ""),
}


@pages.get(JOBS_PATH, who=PageAccess.OPERATOR, nav="Jobs")
def show_jobs(asked: PageRequest, **_: str) -> Response:
    memory = asked.visitor.memory
    jobs, waiting = memory.jobs.list(), memory.jobs.pending()
    return asked.render(
        "jobs.html",
        fragment="jobs_found.html",
        jobs=jobs,
        waiting=waiting,
        summary=_summarize_jobs(jobs, waiting),
        does=JOB_DESCRIPTIONS,
        states=JOB_STATES,
        done=_describe_run,
    )


@pages.post(f"{JOBS_PATH}/{{task}}/run", who=PageAccess.OPERATOR, again=show_jobs)
def post_run_job(asked: PageRequest, task: str) -> Response:
    memory, space = asked.visitor.memory, asked.visitor.session.space
    try:
        ended = asked.site.tasks.run((space, f"job {task}"), lambda: memory.jobs.run(task))
    except (Conflict, InvalidInput):
        raise
    except TacitError:  # recorded with the job, which the page shows
        return asked.redirect(JOBS_PATH, flash="job-failed")
    return asked.redirect(JOBS_PATH, flash="job-ran" if ended else "job-begun")


@pages.post(f"{JOBS_PATH}/retry", who=PageAccess.OPERATOR, again=show_jobs)
def post_retry_learning(asked: PageRequest) -> Response:
    count = asked.visitor.memory.jobs.retry_learning()
    return asked.redirect(JOBS_PATH, flash="learning-again" if count else "nothing-to-learn", count=count)


def _describe_run(counts: Mapping[str, int]) -> str:
    """Format the counts of a run, without the run number that a reversible job adds."""
    found = {what: count for what, count in counts.items() if what != _RUN_COUNT_KEY}
    return labels.format_counts(found) if any(found.values()) else "nothing to do"


def _summarize_jobs(jobs: list[JobStatus], waiting: LearningQueueStatus) -> str:
    """Return one line for screen readers, announced when it changes."""
    counts = [
        (sum(one.state == "running" for one in jobs), "running"),
        (sum(one.state == "waiting" for one in jobs), "due"),
        (sum(one.state == "failed" for one in jobs), "failed"),
        (waiting.turns, "to learn"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in counts if count) or "All done."


# The doctor. A check takes a while in a large space, so it runs on demand and its result is kept.

DOCTOR_PATH = "/doctor"


@pages.get(DOCTOR_PATH, who=PageAccess.OPERATOR, nav="Doctor")
def show_doctor(asked: PageRequest) -> Response:
    tasks, name = asked.site.tasks, _doctor_task(asked)
    done = tasks.last_result(name)
    found: Diagnosis | None = None if done is None else done.result
    return asked.render(
        "doctor.html",
        fragment="doctor_found.html",
        running=tasks.is_running(name),
        checked_at=None if done is None else done.at,
        found=found,
    )


@pages.post(DOCTOR_PATH, who=PageAccess.OPERATOR, again=show_doctor)
def post_doctor(asked: PageRequest) -> Response:
    """Answer with the page itself: after a redirect another process may answer, without result."""
    asked.site.tasks.run(_doctor_task(asked), asked.visitor.memory.admin.doctor)
    return show_doctor(asked)


def _doctor_task(asked: PageRequest) -> TaskName:
    return asked.visitor.session.space, "doctor"


# API keys.

KEYS_PATH = "/keys"
SCOPE_DESCRIPTIONS = {
    Scope.READ: "Read visible memories",
    Scope.WRITE: "Remember, update and forget",
    Scope.ERASE: "Erase permanently",
    Scope.ADMIN: "Administer the space: links, events, jobs, counts, metrics",
    Scope.ACT_AS: "Act for any requester in any chat",
}


@pages.get(KEYS_PATH, who=PageAccess.OPERATOR, nav="Keys")
def show_keys(asked: PageRequest) -> Response:
    newest = asked.visitor.memory.keys.list()[::-1]
    found = _page_of_keys(newest, asked.query.line("cursor"))
    return asked.render("keys.html", found=found, now=system_clock(), scopes=SCOPE_DESCRIPTIONS)


@pages.get(f"{KEYS_PATH}/new", who=PageAccess.OPERATOR)
def show_key_form(asked: PageRequest) -> Response:
    return asked.render_form(
        "key_form.html",
        "Create a key",
        scopes=SCOPE_DESCRIPTIONS,
        categories=category_names(asked.site.settings),
        most_days=limits.API_KEY_MAX_DAYS,
    )


@pages.post(KEYS_PATH, who=PageAccess.OPERATOR, again=show_key_form)
def post_create_key(asked: PageRequest) -> Response:
    """Answer with the token, without a redirect: it is stored nowhere and shown only here."""
    form = asked.form
    made = asked.visitor.memory.keys.create(
        form.line("name") or "",
        scopes=form.many("scopes"),
        requester=form.line("requester"),
        agent=form.line("agent"),
        categories=form.many("categories") or None,
        expires_days=_optional_integer(asked, "expires_days", limits.API_KEY_MAX_DAYS),
        rate_per_minute=_optional_integer(asked, "rate_per_minute", limits.SERVER_RATE_HIGHEST_PER_MINUTE),
    )
    return asked.render("key_created.html", made=made)


@pages.get(f"{KEYS_PATH}/{{id}}/revoke", who=PageAccess.OPERATOR)
def show_revoke_form(asked: PageRequest, id: str) -> Response:
    every = asked.visitor.memory.keys.list()
    key = next((one for one in every if one.id == id), None)
    if key is None or key.revoked_at is not None:
        raise NotFound("key")
    return asked.render_form("key_revoke_form.html", "Revoke a key", key=key)


@pages.post(f"{KEYS_PATH}/{{id}}/revoke", who=PageAccess.OPERATOR)
def post_revoke_key(asked: PageRequest, id: str) -> Response:
    asked.visitor.memory.keys.revoke(id)
    return asked.redirect(KEYS_PATH, flash="revoked")


def _page_of_keys(keys: Sequence[Key], cursor: str | None) -> Page[Key]:
    """Return the page after the key that the cursor names."""
    start = next((at + 1 for at, one in enumerate(keys) if one.id == cursor), 0)
    items = tuple(keys[start : start + limits.PAGE_DEFAULT_COUNT])
    more = len(keys) > start + len(items)
    return Page(items=items, cursor=items[-1].id if more else None)


def _optional_integer(asked: PageRequest, name: str, most: int) -> int | None:
    return None if asked.form.line(name) is None else asked.form.integer(name, 1, 1, most)


# Settings of the server and counts of the space. Secrets are not shown.

SECRET_PLACEHOLDER = "not shown"
_NONE, _OFF = "none", "off"
_UNITS = (("h", 3_600), ("m", 60), ("s", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    key: str
    value: str
    usual: str | None  # the default, if the value differs from it
    variable: str | None  # None: settable only in the settings file


@pages.get("/settings", who=PageAccess.OPERATOR, nav="Settings")
def show_settings(asked: PageRequest) -> Response:
    memory = asked.visitor.memory
    return asked.render(
        "settings.html",
        groups=group_settings(asked.site.settings),
        stats=memory.admin.stats(),
        embedding=memory.admin.embedding(),
        space=asked.visitor.session.space,
        versions={"Tacit": tacit.__version__, "Python": platform.python_version()},
    )


def group_settings(settings: Settings) -> dict[str, list[SettingRow]]:
    """Group settings by the first part of their keys."""
    found: dict[str, list[SettingRow]] = {}
    for key, declared in declared_fields().items():
        value: Any = reduce(getattr, key.split("."), settings)
        is_set, usual = value != declared.default, _format_value(declared.default)
        if not is_set:
            shown = usual
        elif not declared.repr:  # a secret, or a URL that may contain one
            shown = SECRET_PLACEHOLDER
        elif value is None and isinstance(declared.default, timedelta):
            shown = _OFF
        else:
            shown = _format_value(value)
        row = SettingRow(key=key, value=shown, usual=usual if is_set else None, variable=variable_name(key))
        found.setdefault(key.partition(".")[0], []).append(row)
    for key in file_only_keys():
        given = getattr(settings, key)
        row = SettingRow(key=key, value=_format_value(given), usual=_NONE if given else None, variable=None)
        found.setdefault(key, []).append(row)
    return found


def _format_value(value: object) -> str:
    """Format a value as in a settings file."""
    if value is None or value == "":
        return _NONE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return _format_period(value)
    if isinstance(value, CategorySetting):
        return f"{value.name} ({value.context})"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_format_value(one)}" for key, one in value.items()) or _NONE
    if isinstance(value, tuple | frozenset):
        return ", ".join(map(_format_value, value)) or _NONE
    return str(value)


def _format_period(value: timedelta) -> str:
    seconds, parts = int(value.total_seconds()), []
    for unit, length in _UNITS:
        count, seconds = divmod(seconds, length)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"
