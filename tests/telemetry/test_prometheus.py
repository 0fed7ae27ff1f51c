"""Measures for Prometheus: what is counted, and that a real scrape gets it."""

import subprocess
import sys
import urllib.request

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

import tacit
from tacit.memory import Memory
from tacit.server.metrics import serve_metrics
from tacit.telemetry.metrics import NO_METER, create_meter
from tacit.view.idempotency import MeasuredDispatch
from tacit.view.view import View
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, BOB, group, kept, private
from tests.contract.scripted import GOOD, HEDGEHOGS
from tests.llm.endpoint import Endpoint
from tests.llm.replies import refuses
from tests.telemetry.conftest import Measured
from tests.telemetry.scenes import settings


class Seen:
    """How much a counter has grown since; the registry is the process's own."""

    def __init__(self) -> None:
        self._before = self._now()

    def _now(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in REGISTRY.collect()
            for sample in family.samples
        }

    def grown(self, name: str, **labels: str) -> float:
        key = (f"tacit_{name}", tuple(sorted(labels.items())))
        return self._now().get(key, 0.0) - self._before.get(key, 0.0)


@pytest.fixture
def memory(measured: Measured) -> Memory:
    return measured("prometheus")


@pytest.fixture
def seen(memory: Memory) -> Seen:
    return Seen()


def test_operations_are_counted_by_name_and_outcome_and_timed(memory: Memory, seen: Seen) -> None:
    view = private(memory, ALICE)
    id = kept(view, "one")
    view.put("profile", "timezone", "Europe/Lisbon")
    view.recall("one")
    with pytest.raises(tacit.NotFound):
        private(memory, BOB).forget(id)
    with pytest.raises(tacit.Conflict):
        view.update(id, "two", if_version=9)
    grown = {
        (operation, outcome): seen.grown("operations_total", operation=operation, outcome=outcome)
        for operation in ("remember", "put", "recall", "forget", "update")
        for outcome in ("ok", "refused", "error")
    }
    assert {name: n for name, n in grown.items() if n} == {
        ("remember", "ok"): 1,  # what put does by way of it does not count
        ("put", "ok"): 1,
        ("recall", "ok"): 1,
        ("forget", "refused"): 1,
        ("update", "refused"): 1,
    }
    assert seen.grown("operation_seconds_count", operation="remember") == 1
    assert seen.grown("operation_seconds_sum", operation="remember") > 0


def test_refusals_are_counted_by_rule(memory: Memory, seen: Seen) -> None:
    own = private(memory, ALICE)
    id = kept(own, "Mine alone")
    said = kept(group(memory, ALICE), "Ours", visibility="room", sensitivity="public")
    with pytest.raises(tacit.NotFound):
        private(memory, BOB).forget(id)
    with pytest.raises(tacit.NotFound):
        group(memory, BOB).erase(said)  # he hears it, and may not
    assert not own.explain(id, tacit.Chat.group("telegram:-100", participants=[ALICE, BOB])).allowed
    rules = {rule: seen.grown("refusals_total", rule=rule) for rule in ("PV", "GV", "change")}
    assert rules == {"PV": 1, "GV": 1, "change": 1}


def test_what_writes_do_is_counted_also_where_no_events_are_kept(measured: Measured) -> None:
    chosen = settings("prometheus")
    memory = measured("prometheus", settings=chosen)
    seen = Seen()
    view = private(memory, ALICE)
    view.erase(kept(view, "one"))
    memory.admin.forget_person(BOB.key)
    for op in ("create", "erase"):
        assert seen.grown("events_total", node="hotpath", op=op, status="ok") == 1


def test_a_language_model_is_counted_with_tokens_cost_and_failures(measured: Measured, endpoint: Endpoint) -> None:
    endpoint.script[:] = [GOOD, refuses(503), refuses(401)]
    memory = measured("prometheus", endpoint=endpoint)
    seen = Seen()
    for thread in ("one", "two", "three"):  # what fails in one does not hold up another
        private(memory, ALICE, thread).learn([tacit.Message("user", HEDGEHOGS)])
        memory.jobs.wait_for_learning(0)
    outcomes = ("ok", "unavailable", "refused", "bad_answer", "over_budget")
    assert [seen.grown("language_questions_total", outcome=one) for one in outcomes] == [
        1, 1, 1, 0, 0,
    ]  # fmt: skip
    assert seen.grown("language_seconds_count") == 3
    assert seen.grown("language_tokens_total", direction="in") == 40
    assert seen.grown("language_tokens_total", direction="out") == 8
    assert seen.grown("language_requests_total") == 1  # that were paid for
    assert seen.grown("language_cost_total") == pytest.approx((40 * 2 + 8 * 4) / 1e6)
    assert seen.grown("operations_total", operation="learn_turn", outcome="ok") == 1
    assert seen.grown("operations_total", operation="learn_turn", outcome="error") == 2
    assert seen.grown("events_total", node="hotpath", op="classify", status="error") == 2


def test_vectors_that_could_not_be_made_are_counted(measured: Measured) -> None:
    table = Table({"tea": (1, 0, 0, 0)})
    memory = measured("prometheus", embedder=table)
    seen, view = Seen(), private(memory, ALICE)
    table.down = True
    kept(view, "I like tea")
    view.recall("tea")
    assert seen.grown("embedding_failures_total", purpose="write") == 1
    assert seen.grown("embedding_failures_total", purpose="question") == 1


def test_the_queue_is_read_when_somebody_looks(measured: Measured, database_url: str) -> None:
    memory = measured("prometheus", database_url)
    view = private(memory, ALICE)
    view.learn([tacit.Message("user", "I live in Lisbon"), tacit.Message("user", "I like tea")])
    assert _gauge("queue_depth", of="turns", state="waiting") == 2
    assert _gauge("queue_depth", of="turns", state="parked") == 0
    memory.inbox.add("telegram", [tacit.Update("1", ALICE.key, "{}")])
    assert _gauge("queue_depth", of="updates", state="waiting") == 1
    memory.inbox.complete("telegram", "1")
    assert _gauge("queue_depth", of="updates", state="waiting") == 0
    assert (_gauge("queue_age_seconds") or 0) >= 0
    memory.jobs.wait_for_learning()
    assert _gauge("queue_depth", of="turns", state="waiting") == 0
    assert _gauge("memories", state="active") == 2
    memory.close()
    assert _gauge("queue_depth", of="turns", state="waiting") is None


def test_a_database_that_is_open_twice_counts_once(measured: Measured, tmp_path: object) -> None:
    url = f"sqlite:///{tmp_path}/tacit.db"
    first, second = measured("prometheus", url), measured("prometheus", url)
    kept(private(first, ALICE), "one")
    assert _gauge("memories", state="active") == 1
    second.close()
    assert _gauge("memories", state="active") == 1


def _gauge(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"tacit_{name}", labels)


def test_a_real_scrape_gets_them(memory: Memory) -> None:
    kept(private(memory, ALICE), "one")
    with serve_metrics(0) as address:
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            assert answer.status == 200
            assert answer.headers["Content-Type"].startswith("text/plain")
            text = answer.read().decode()
    found = {family.name: family for family in text_string_to_metric_families(text)}
    assert found["tacit_operations"].type == "counter"
    assert found["tacit_operation_seconds"].type == "histogram"
    assert found["tacit_queue_depth"].type == "gauge"
    assert found["tacit_operations"].documentation == "What was asked of memory"


def test_what_a_view_answers_is_the_same_when_it_is_measured(measured: Measured) -> None:
    plain, counted = measured("off"), measured("prometheus")
    answers = []
    for memory in (plain, counted):
        view = private(memory, ALICE)
        assert isinstance(view, View)
        assert isinstance(view._dispatch, MeasuredDispatch) is (memory is counted)
        kept(view, "Tea is better than coffee")
        answers.append([(one.memory.content, one.score, one.why) for one in view.recall("tea?")])
    assert answers[0] == answers[1]


def test_switched_off_nothing_is_loaded_and_nothing_is_told(measured: Measured) -> None:
    assert create_meter("off") is NO_METER
    with pytest.raises(tacit.InvalidInput, match="exporter"):
        measured("off").admin.metrics()
    code = "import sys, tacit; tacit.open('sqlite://').close(); "
    code += "sys.exit('prometheus_client' in sys.modules or 'opentelemetry' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("exporter", "library"), [("prometheus", "prometheus_client"), ("opentelemetry", "opentelemetry.metrics")]
)
def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch, exporter: str, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(tacit.MissingExtra, match=r"\.\[metrics\]"):
        create_meter(exporter)


def test_what_is_done_once_is_counted_whenever_it_is_asked_for(memory: Memory, seen: Seen) -> None:
    view = private(memory, ALICE)
    assert view.once("a").remember("one") == view.once("b").once("a").remember("one")
    assert seen.grown("operations_total", operation="remember", outcome="ok") == 2
    with pytest.raises(tacit.Conflict):
        view.once("a").remember("two")
    assert seen.grown("operations_total", operation="remember", outcome="refused") == 1
