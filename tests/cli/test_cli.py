"""Every command, for people and as JSON, on both databases."""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tacit import Chat, Message, Requester
from tacit.bootstrap import open_memory
from tacit.cli.output import MEMORY_FIELDS, OWNER_FIELDS
from tacit.cli.parser import COMMANDS
from tacit.settings import Settings
from tacit.settings.sections import LearnSettings
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001", "--name", "Alice")
BOB = ("--as", "telegram:2002")
GROUP = ("--chat", "telegram:-5", "--with", "telegram:1001,Alice", "--with", "telegram:2002,Bob")

SettingsOf = Callable[[str], AbstractContextManager[None]]

on_both = pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)


class Case(NamedTuple):
    """`{id}` is one of Alice's memories, `{other}` another one, `{asked}` a proposal to her,
    `{held}` something in quarantine, `{pet}` an animal and `{n}` a number; all differ between the
    two forms."""

    argv: str
    prints: str
    fields: str  # of the JSON document


WROTE = "id state version created supersedes"
PAGE = "memories cursor"
ERASED = "done count complete certificate"
BACKED_UP = "path schema healthy rows problems erased_again"
GENUINE = "genuine: issued by this memory, unchanged\n"
COUNTS = "memories by_state by_kind by_category"
VECTORS = "model dimension done total running complete"
BLOCK = r"## Your Memory\n.*Sarah is my wife\n.*</tacit-memory>\n"
FRESH = r"<tacit-memory .*>\n- \[fact\] .*Sarah is my wife\n</tacit-memory>\n"
EMBEDDED = r"\w+@\w+  dimension 4  \d of 4 memories.*\n"
LINK = r"(link|merge)  \S+ -> \S+  "
HISTORY = r".* UTC  ADD  v1  ext:telegram:1001 +Fact .*\n"
ABOUT = r"\w{8}  fact  private_only  \w+  Sarah is my wife\n"
FILED = r"\w{8}  profile/timezone  private_only  \w+  Europe/Lisbon\n"
LEARNED = r"learned  1 turn\ncreated  \w{8}  Alice's (cat|dog) is called Tom\n"
WAITS = "turns parked oldest problems"
IMPORTED = "imported  0 new, 1 already here, 0 refused\n"
# word: the rest of the command line, what it prints, the fields of its JSON
SYNCED = r"synced  \d files?\nread    0 files\nwrote   \d files?\n"
KEY = r"\w{12}  read  for -  active  k\d\ntct_\w{12}_[\w-]{43}\n"
SIGN_IN = r"http://127\.0\.0\.1:8377/sign-in\?token=tcl_\w{12}_[\w-]{43}\n"
READ_BACK = "read_back remembered updated forgotten completed"
CASES = {
    "remember": Case("TEXT", r"remembered  \w{8}  version 1\n", WROTE),
    "put": Case("goal k{n} v", r"put goal/k\d  \w{8}  version 1\n", WROTE),
    "get": Case("profile timezone", "Europe/Lisbon\n", "memory"),
    "recall": Case("wife", r"\w{8}  \d.\d\d  P1  fact  Sarah is my wife\n", "recalled"),
    "query": Case("wife", r"- \[fact\] .*Sarah is my wife\n", "bullets"),
    "block": Case("", BLOCK, "text revision ids cut tokens"),
    "fresh": Case("wife", FRESH, "text revision recalled tokens"),
    "list": Case("profile", FILED, PAGE),
    "about": Case("Sarah", ABOUT, PAGE),
    "show": Case("{id}", r"{id}  fact  knowledge, version 1\n  \| Fact .*", "memory owners"),
    "update": Case("{id} Other", "updated  {id}  version 2\n", WROTE),
    "forget": Case("{id}", "forgotten  {id}; restore .*\n", "id done"),
    "restore": Case("{id}", "restored  {id}\n", "id done"),
    "erase": Case("{id} --yes", "erased  1 memory\n", ERASED),
    "history": Case("{id}", HISTORY, "history"),
    "explain": Case("{id}", "said  P1: the owner asks in private\n", "allowed rule says"),
    "visibility": Case("{id} public_ok", "visibility  {id} is public_ok\n", "id done visibility"),
    "withhold": Case("{id} telegram:9", "withheld  {id} from telegram:9\n", "id done"),
    "pin": Case("{id}", "pinned  {id}\n", "id done"),
    "relate": Case(
        "{id} {other}",
        r"related  {id} to \w{8}  related_to\n",
        "id done other relation strength",
    ),
    "record": Case("turns", "recorded  2 turns\n", "ids"),
    "learn": Case(
        "'My {pet} is called Tom'",
        LEARNED,
        "turns refused changes proposals quarantined waiting",
    ),
    "proposals": Case("", r"(\w{8}  until .* UTC  Alice's .*\n){2}", "proposals"),
    "approve": Case("{asked}", r"approved  \w{8}\n", "id done"),
    "decline": Case("{asked}", r"declined  \w{8}\n", "id done"),
    "session": Case("start", "session  telegram:1001\n", "session long_term recent today"),
    "people": Case("", r".*person:\w{8} +Sarah \(name\)\n", "people"),
    "name": Case("Sarah Sal{n}", r"named  person:\w{8}  .*Sal\d \(alias\).*\n", "person"),
    "link": Case("telegram:7{n} acct:{n}", LINK + "active\n", "link"),
    "unlink": Case("telegram:8{n}", LINK + "ended\n", "link"),
    "links": Case("telegram:81", r"link  ext:telegram:81  acct:81  active .*\n", "links"),
    "merge": Case("person:6666666{n} telegram:9", LINK + "active\n", "link"),
    "unmerge": Case("person:7777777{n}", LINK + "ended\n", "link"),
    "export": Case("--output out{n}", r"exported  4 to out\d\n", "exported file"),
    "import": Case("backup", IMPORTED, "created skipped refused"),
    "imports": Case("", "", "imports cursor"),
    "wipe": Case("--yes", "erased  4 memories\n", ERASED),
    "certificate": Case("verify certificate", GENUINE, "genuine"),
    "backup": Case("--verify", r"healthy  schema \d+, [\d,]+ rows\n", BACKED_UP),
    "stats": Case("", r"4 memories\nstate  active +4\n.*", COUNTS),
    "delta": Case("", r"revision \d+\n\d+  created  .*", "revision changes"),
    "spaces": Case("", r"(\w+\n)*spaces\n(\w+\n)*", "spaces"),
    "consolidate": Case(
        "", r"merged  \d memor(y|ies), in run \d+\n", "run merged certain pairs asked left skipped"
    ),
    "reflect": Case(
        "", "stored  0 insights about 0 people\n", "people insights refused left skipped"
    ),
    "summarise": Case(
        "", "summarized  0 of 0 conversations\n", "sessions summaries refused left skipped"
    ),
    "expire": Case("", r"expired  .*\n", "expired faded evicted turns proposals cleared waits"),
    "purge": Case("", r"purged  0\n", "purged postponed waits"),
    "notes": Case("sync", SYNCED, f"files {READ_BACK} written problems"),
    "maintain": Case("", "healthy  checked, analysed, compacted\n", "healthy problems did pending"),
    "doctor": Case("", "healthy\n", "healthy findings"),
    "events": Case("--op create", r"[\d-]{10}  hotpath  create  ok  \d\n", "events cursor"),
    "metrics": Case("--print", r"# HELP .*tacit_queue_depth\{.*\n", "metrics"),
    "embedding": Case("", EMBEDDED, VECTORS),
    "waiting": Case("", r"waiting  2 turns, the oldest since .* UTC\n", f"{WAITS} retried"),
    "jobs": Case("", r"expire +(idle|waiting) .*\nsummarise +off +never ran\n", "jobs"),
    "work": Case("--once", r"learned  2 turns\nwaiting  0 turns\n", f"learned ran {WAITS}"),
    "quarantine": Case("release {held}", r"released  \w{8}; it is untrusted\n", "id done"),
    "revert": Case(
        "--source telegram:1001",
        r"reverted  telegram:1001\n  4 memories forgotten; restorable for 30 days\n"
        r"  2 proposals withdrawn\n  2 turns removed from the queue\n",
        "source dry_run forgotten reworded restored proposals turns recorded",
    ),
    "keys": Case("create k{n} --scope read", KEY, "key token"),
    "console": Case("--for telegram:1001", SIGN_IN, "url expires_at"),
    "reembed": Case("", r"made  \d+\n" + EMBEDDED, f"made {VECTORS}"),
}
PENDING = "(pending: .*\n)?"  # on PostgreSQL
SAID_BESIDE = {
    "session": "No memories found.\n",
    "erase": PENDING,
    "wipe": PENDING,
    "maintain": PENDING,
    "imports": "No imports found.\n",
    "consolidate": "no language model is set.*\n",
    "reflect": "it is switched off.*\n",
    "summarise": "it is switched off.*\n",
    "reembed": r"(\d+ vectors made\n)*",
    "keys": "Store the token now.*\n",
    "console": "The link works once.*\n",
}  # on stderr; in the background it may be quicker
CONVERSED = ("proposals", "approve", "decline", "waiting", "work", "quarantine", "revert")
KEEP_TURNS = {"TACIT_MEMORY_SESSIONS_KEEP": "true"}


def prepared(url: str, space: str) -> list[str]:
    """Alice's four memories, of which two are alike; and some links."""
    with open_memory(url, space=space, settings=Settings(), embedder=None) as memory:
        alice = Requester("telegram:1001", name="Alice")
        view = memory.view(alice, Chat.private(alice.key))
        ids = [view.remember(f"Fact {n}").id or "" for n in (1, 2)]
        view.remember("Sarah is my wife", about=["Sarah"])
        view.put("profile", "timezone", "Europe/Lisbon")
        for n in (1, 2):
            memory.admin.link(f"telegram:8{n}", f"acct:8{n}")
            memory.admin.merge_people(f"person:7777777{n}", "telegram:9")
        gone = view.erase(view.remember("gone").id).certificate
    Path("certificate").write_text(gone.to_json() if gone else "")
    Path("backup").write_text('{"content": "Sarah is my wife"}\n')
    Path("turns").write_text('{"role": "user", "content": "Hello"}\n' * 2)
    return ids


def conversed(url: str, space: str) -> tuple[list[str], list[str]]:
    """Two proposals, two things in quarantine, two memories, and two turns that wait."""
    careful = Settings(learn=LearnSettings(workers=0, confirm="new"))
    with open_memory(url, space=space, settings=careful, embedder=None) as memory:
        alice = Requester("telegram:1001", name="Alice")
        view = memory.view(alice, Chat.private(alice.key))
        view.learn([Message("user", f"My {who} is called Ana") for who in ("sister", "aunt")])
        view.learn([Message("user", f"Remember that I like {what}") for what in ("tea", "jazz")])
        view.learn([Message("tool", f"The {what} is open") for what in ("door", "vault")])
        memory.jobs.wait_for_learning()
        held = [one.id for one in memory.operator("root").quarantine.list()]
        asked = [one.id for one in view.proposals.list()]
        view.learn([Message("user", "I play the cello"), Message("user", "I live in Faro")])
    return asked, held


def test_every_command_has_a_case_here() -> None:
    elsewhere = {"chat", "demo", "mcp", "serve", "slack", "telegram"}  # they have their own
    assert {one.name for one in COMMANDS} - elsewhere == set(CASES)


@pytest.fixture
def settings_of(home: Path, tiny_model: dict[str, str]) -> SettingsOf:
    """What some commands need to be set."""
    files = {"TACIT_NOTES_ENABLED": "true", "TACIT_NOTES_DIR": str(home / "notes")}
    needed = {"record": KEEP_TURNS, "embedding": tiny_model, "reembed": tiny_model, "notes": files}

    @contextmanager
    def during(word: str) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in needed.get(word, {}).items():
                patched.setenv(name, value)
            yield

    return during


def answers_both(tacit: Tacit, url: str, word: str) -> None:
    """In a space of its own, so that many commands can share a database."""
    case, here = CASES[word], (*ALICE, "--space", word)
    ids = prepared(url, word)
    asked, held = conversed(url, word) if word in CONVERSED else (ids, ids)
    for n, id in enumerate(ids, start=1):
        named = {"asked": asked[n - 1], "held": held[n - 1], "pet": ("cat", "dog")[n - 1]}
        argv = [word, *shlex.split(case.argv.format(id=id, n=n, other=ids[-n], **named))]
        if word == "restore":
            tacit("forget", id, *here)
        if n == 1:
            ran = tacit(*argv, *here)
            assert ran.code == 0, word
            assert re.fullmatch(SAID_BESIDE.get(word, ""), ran.err), word
            assert re.fullmatch(case.prints.replace("{id}", id), ran.out, re.DOTALL), ran.out
        else:
            ran = tacit(*argv, *here, "--json")
            assert (ran.code, ran.err) == (0, ""), word
            assert list(ran.json) == case.fields.split(), word
    for file in ("out1", "out2"):
        Path(file).unlink(missing_ok=True)


@pytest.mark.parametrize("word", CASES)
def test_a_command_answers_people_in_lines_and_programs_in_json(
    on_file: Tacit, tmp_path: Path, word: str, settings_of: SettingsOf
) -> None:
    with settings_of(word):
        answers_both(on_file, str(tmp_path / "memory.sqlite"), word)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_every_command_answers_alike_on_postgresql(
    tacit: Tacit, database_url: str, settings_of: SettingsOf
) -> None:
    for word in CASES:
        with settings_of(word):
            answers_both(tacit, database_url, word)


def test_a_memory_as_json_has_the_promised_fields(on_file: Tacit) -> None:
    id = on_file("remember", "tea", *ALICE, "--json").json["id"]
    shown = on_file("show", id, *ALICE, "--json").json
    assert list(shown["memory"]) == list(MEMORY_FIELDS)
    assert set(shown["owners"]) == set(OWNER_FIELDS)
    assert shown["memory"]["content"] == "tea"
    assert shown["owners"]["learned_in"] == "telegram:1001"


@on_both
def test_what_a_memory_is_made_of_can_be_said_in_options(tacit: Tacit) -> None:
    fields = {
        "--kind": "preference", "--category": "goal", "--key": "k", "--visibility": "public_ok",
        "--sensitivity": "public", "--importance": "5", "--confidence": "0.5", "--tag": "warm",
        "--observed-at": "2026-01-01T00:00:00Z", "--expires-at": "2999-01-01T00:00:00+01:00",
        "--message": "m", "--agent": "a", "--run": "r", "--role": "user",
        "--about": "telegram:2002", "--withhold-from": "telegram:3003", "--data": '{"n": [1]}',
    }  # fmt: skip
    argv = [part for pair in fields.items() for part in pair]
    id = tacit("remember", "tea", "--pinned", "--no-portable", *argv, *ALICE, "--json").json["id"]
    shown = tacit("show", id, *ALICE, "--json").json
    memory, owners = shown["memory"], shown["owners"]
    plain = "kind category key visibility sensitivity importance confidence tags pinned subjects"
    assert [memory[name] for name in plain.split()] == [
        "preference", "goal", "k", "public_ok", "public", 5, 0.5, ["warm"], True,
        ["ext:telegram:2002"],
    ]  # fmt: skip
    assert memory["observed_at"] == "2026-01-01T00:00:00+00:00"
    assert memory["expires_at"] == "2998-12-31T23:00:00+00:00"
    assert [owners[n] for n in ("agent", "run", "role", "portable")] == ["a", "r", "user", False]
    assert owners["source"]["message"] == "m"
    assert owners["withheld_from"] == ["ext:telegram:3003"]
    assert memory["data"] == {"n": [1]}
    tacit("update", id, "--data", '{"n": 2}', *ALICE)
    assert '{"n": 2}' in tacit("show", id, *ALICE).out
    for wrong in ("nonsense", "[1]", "null"):
        assert tacit("update", id, "--data", wrong, *ALICE).code == 2


@on_both
def test_a_stale_version_is_a_conflict(tacit: Tacit) -> None:
    id = tacit("remember", "tea", *ALICE, "--json").json["id"]
    assert tacit("update", id, "green tea", "--if-version", "1", *ALICE).code == 0
    ran = tacit("update", id, "black tea", "--if-version", "1", *ALICE)
    assert ran.code == 4
    assert ran.err == "tacit: the memory is at version 2 by now: read it again\n"
    assert tacit("show", id, *ALICE, "--json").json["memory"]["content"] == "green tea"


@on_both
def test_a_listing_goes_on_where_it_stopped(tacit: Tacit) -> None:
    said = [tacit("remember", f"Fact {n}", *ALICE, "--json").json["id"] for n in range(5)]
    seen: list[str] = []
    more: list[str] = []
    while True:
        ran = tacit("list", "--limit", "2", *more, *ALICE)
        seen += [line.split()[0] for line in ran.out.splitlines()]
        onward = re.search(r"repeat the command with (--cursor \S+)", ran.err)
        if onward is None:
            break
        more = onward[1].split()
    assert seen == said[::-1]


@on_both
def test_forgetting_goes_by_key_by_category_and_by_person(tacit: Tacit) -> None:
    for key in ("a", "b", "c"):
        tacit("put", "goal", key, "v", *ALICE)
    tacit("remember", "tea", *ALICE)
    assert tacit("forget", "--category", "goal", "--key", "a", *ALICE, "--json").json["count"] == 1
    assert tacit("forget", "--namespace", "goal", *ALICE, "--json").json["count"] == 2
    assert tacit("forget", "--subject", "telegram:1001", "--json").json["count"] == 1
    assert tacit("list", *ALICE, "--json").json["memories"] == []
    assert len(tacit("list", "--state", "forgotten", *ALICE, "--json").json["memories"]) == 4


@on_both
def test_erasing_goes_by_person_and_by_space(tacit: Tacit) -> None:
    tacit("remember", "tea", *ALICE)
    tacit("remember", "coffee", *BOB)
    tacit("remember", "milk", *BOB, "--space", "other")
    assert tacit("erase", "--subject", "telegram:1001", "--yes").out == "erased  1 memory\n"
    assert tacit("stats", "--whole-space", "--json").json["memories"] == 1
    assert tacit("erase", "--whole-space", "--yes").out == "erased  1 memory\n"
    assert tacit("stats", *BOB, "--space", "other", "--json").json["memories"] == 1


@on_both
def test_linked_identities_are_one_person_until_unlinked(tacit: Tacit) -> None:
    tacit("remember", "tea", *ALICE)
    tacit("link", "telegram:1001", "acct:42", "--unverified")
    assert tacit("list", "--as", "acct:42", "--json").json["memories"] == []
    assert tacit("link", "telegram:1001", "--verify").code == 0
    assert len(tacit("list", "--as", "acct:42", "--json").json["memories"]) == 1
    tacit("unlink", "telegram:1001")
    assert tacit("list", "--as", "acct:42", "--json").json["memories"] == []


@on_both
def test_a_group_hears_what_was_said_there_and_no_private_word(tacit: Tacit) -> None:
    tacit("remember", "Alice is saving up for a houseboat", *ALICE)
    in_group = ("--visibility", "room", "--about", "Bob", "--for-room")
    tacit("remember", "Bob brings the cake", *in_group, *ALICE, *GROUP)
    heard = tacit("list", *BOB, *GROUP)
    assert "Bob brings the cake" in heard.out
    assert "houseboat" not in heard.out
    assert tacit("list", *BOB).out.count("\n") == 1  # he heard it there


@on_both
def test_the_owner_is_told_the_rule_for_any_room_and_asker(tacit: Tacit) -> None:
    id = tacit("remember", "houseboat", *ALICE, "--json").json["id"]

    def rule(*where: str) -> str:
        found: str = tacit("explain", id, *ALICE, *where, "--json").json["rule"]
        return found

    assert rule() == "P1"
    assert rule(*GROUP) == "GV"
    assert rule(*GROUP, "--asked-by", "telegram:2002") == "GV"
    assert rule("--asked-by", "telegram:2002") == "PV"
    tacit("withhold", id, "telegram:2002", *ALICE)
    assert rule("--asked-by", "telegram:2002") == "D3"
