"""A number that outputs show is the same number in all of them: tables, JSON, CSV, pages, the log, metrics, notices."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.beyond_limits import with_beyond
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.plugins import REGISTRY
from descheduler.kube.client import KubeClient
from descheduler.policy.load import load_policy
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.render import render
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.making import make_outcome
from descheduler.report.pictures.review import review_of
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from descheduler.telemetry.log_lines import log_outcome, log_plan
from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.notices import make_notice
from descheduler.telemetry.run_record import RunRecord
from tests.bench.policies import STRATEGIES, policy_of
from tests.builders import Object
from tests.cycle.shipped import NOW, decided, on_samples
from tests.integration.fake_api import FakeApi
from tests.integration.faults import budget_refusal
from tests.integration.live_processes import Cli, cli
from tests.integration.live_runs import crowded_cluster, eviction_requests, run, serve, taint_policy
from tests.worlds.generate import GENERATED_AT, generate_cluster

__all__ = ["cli"]

pytestmark = pytest.mark.long


@dataclass(frozen=True, slots=True)
class TableFigures:
    """What a table says in numbers: pods that are evicted, and pods that stay by code."""

    num_evicted: int
    refused: Mapping[str, int]


def read_table(text: str) -> TableFigures:
    """The numbers of the summary line, and of the table of codes."""
    evicted = re.search(r"^([\d,]+) pods? (?:would be )?evicted", text, re.MULTILINE)
    assert evicted is not None
    codes = re.search(r"^PODS +CODE +MEANING\n((?:.+\n)*)", text, re.MULTILINE)
    rows = codes[1].splitlines() if codes else []
    counts = {code: _number(number) for number, code, _ in (row.split(maxsplit=2) for row in rows)}
    summary = re.search(r"^Not evicted: +([\d,]+) pods? \((.+)\)$", text, re.MULTILINE)
    if summary is not None:
        assert _number(summary[1]) == sum(counts.values())
        assert {code: _number(number) for code, number in map(str.split, summary[2].split(", "))} == counts
    return TableFigures(_number(evicted[1]), counts)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def metrics_of(record: RunRecord, name: str, *labels: str) -> Counter[tuple[str, ...]]:
    """Values of these labels → the sum over all others."""
    sums: Counter[tuple[str, ...]] = Counter()
    for family in run_registry(record, last_success=None).collect():
        for sample in family.samples:
            if sample.name == name:
                sums[tuple(sample.labels[label] for label in labels)] += round(sample.value)
    return +sums


def fields_of(records: Iterable[logging.LogRecord], message: str) -> list[dict[str, Any]]:
    """The fields of every event with this message."""
    return [getattr(record, "event_fields") for record in records if record.getMessage() == message]  # noqa: B009


def check_document(plan: Object) -> None:
    """Adds the numbers of a plan's JSON up."""
    moved = [pod_of(move) for move in plan["moves"]]
    handed_over = {pod_of(entry) for entry in plan["background"]}
    staying = [pod_of(refusal) for refusal in plan["refusals"]]
    assert len(moved) == len(set(moved))
    assert len(staying) == len(set(staying))
    assert not (set(moved) | handed_over) & set(staying)
    assert {pod_of(request) for request in plan["repeatedRequests"]} <= set(moved) | handed_over
    check_landings(plan, moved)
    check_refusals(plan)
    check_plugins(plan)
    total = plan["figures"]["total"]
    assert total["before"]["pods"] - total["after"]["pods"] == total["displaced"]["pods"] <= len(moved)


def pod_of(entry: Object) -> tuple[str, str]:
    return entry["pod"]["namespace"], entry["pod"]["name"]


def check_landings(plan: Object, moved: list[tuple[str, str]]) -> None:
    landings = plan["landings"]
    verdicts = Counter(move["landing"]["verdict"] for move in plan["moves"] if move["landing"])
    assert landings["evicted"] == len(moved)
    assert landings["assessed"] == verdicts.total()
    assert {verdict: landings[_camel(verdict)] for verdict in verdicts} == verdicts


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def check_refusals(plan: Object) -> None:
    refusals, limited = plan["refusals"], [r for r in plan["refusals"] if r["code"] == "LimitReached"]
    assert {c["code"]: c["count"] for c in plan["refusalCounts"]} == Counter(r["code"] for r in refusals)
    assert sum(c["attempts"] for c in plan["refusalCounts"]) == sum(r["attempt"] for r in refusals)
    by_limit = Counter((limit["limit"], limit["scope"]) for limit in plan["limits"] for _ in range(limit["pods"]))
    assert by_limit == Counter((refusal["limit"], refusal["subject"]) for refusal in limited)
    assert plan["moreMatching"] == len(limited)
    assert all(bool(refusal["limit"]) is (refusal["code"] == "LimitReached") for refusal in refusals)


def check_plugins(plan: Object) -> None:
    evicted = Counter((move["profile"], move["plugin"]) for move in plan["moves"])
    refused = {
        (answer["profile"], answer["plugin"], answer["code"], pod_of(refusal))
        for refusal in plan["refusals"]
        for answer in (refusal, *refusal["others"])
    }
    counts = Counter((profile, plugin, code) for profile, plugin, code, _ in refused)
    for plugin in plan["plugins"]:
        name = plugin["profile"], plugin["plugin"]
        assert plugin["evicted"] == evicted.pop(name, 0)
        assert {(*name, code): number for code, number in plugin["refused"].items()} == {
            key: counts.pop(key) for key in list(counts) if key[:2] == name
        }
        check_facts(plugin)
    assert (evicted, counts) == (Counter(), Counter())


def check_facts(plugin: Object) -> None:
    """What a plugin selects is evicted or refused; the sentence of one that evicts nothing accounts for each pod."""
    if plugin["facts"] is None:
        return
    selected, said = plugin["facts"]["podsSelected"], plugin["facts"]["whyNothing"]
    assert selected >= plugin["evicted"]
    all_said = [_number(number) for number in re.findall(r"(?<![\w-])\d[\d,]*\b", said)]
    if plugin["refused"] and "none evicted" in said:
        assert all_said[0] == sum(all_said[1:]) >= sum(plugin["refused"].values())


def check_plan(plan: Plan, caplog: pytest.LogCaptureFixture) -> None:
    """Everything that one dry run shows of `plan`."""
    document = json.loads(json_text(plan))
    check_document(document)
    counts = {count["code"]: count["count"] for count in document["refusalCounts"]}
    for output_format in ("table", "wide"):
        table = read_table("".join(render(plan, output_format)))
        assert (table.num_evicted, table.refused) == (len(document["moves"]), counts)
    check_flat_formats(plan, document)
    check_review(plan, document, counts)
    record = RunRecord(plan=plan)
    assert make_notice(record, "main").planned == len(document["moves"])
    assert metrics_of(record, "descheduler_refusals", "code") == Counter({(code,): n for code, n in counts.items()})
    check_attempts(record, document)
    planned = metrics_of(record, "descheduler_moves_planned", "profile", "strategy")
    assert planned == Counter((move["profile"], move["plugin"]) for move in document["moves"])
    with caplog.at_level(logging.DEBUG, "descheduler"):
        log_plan(plan)
    check_sums(caplog.records, document, num_evicted=len(document["moves"]))
    assert len(fields_of(caplog.records, "Evicted pod in dry run mode")) == len(document["moves"])


def check_flat_formats(plan: Plan, document: Object) -> None:
    lists = {"evict": "moves", "background": "background", "blocked": "refusals"}
    rows = Counter(row["decision"] for row in csv.DictReader(io.StringIO("".join(render(plan, "csv")))))
    lines = Counter(json.loads(line)["type"] for line in "".join(render(plan, "jsonl")).splitlines())
    assert len("".join(render(plan, "name")).splitlines()) == len(document["moves"])
    assert rows == +Counter({decision: len(document[name]) for decision, name in lists.items()})
    assert {name: lines[name] for name in lists.values()} == {name: len(document[name]) for name in lists.values()}


def check_review(plan: Plan, document: Object, counts: Mapping[str, int]) -> None:
    """What the page and Markdown show."""
    review = review_of(plan)
    not_done: Counter[str] = Counter()
    for each in review.not_done:
        not_done[each.code] += each.number
    evicted = re.match(r"([\d,]+) pods? would be evicted", review.verdict[0])
    assert evicted is not None
    assert _number(evicted[1]) == len(document["moves"]) == sum(each.moved for each in review.workloads)
    assert not_done == Counter(counts)
    of_figures = document["figures"]["total"]["before"]["pods"]
    of_cluster = [
        _number(number) for number in re.findall(r"([\d,]+) (?:pods?$|pods?,|of them)", review.identity["Cluster"])
    ]
    assert of_cluster == list(dict.fromkeys([plan.snapshot.num_pods, of_figures]))


def check_attempts(record: RunRecord, plan: Object) -> None:
    requested = metrics_of(record, "descheduler_refusals", "attempt")
    assert requested == +Counter(
        {("true",): num_attempts(plan), ("false",): len(plan["refusals"]) - num_attempts(plan)}
    )


def num_attempts(plan: Object) -> int:
    return sum(refusal["attempt"] for refusal in plan["refusals"])


def check_sums(records: Iterable[logging.LogRecord], plan: Object, *, num_evicted: int) -> None:
    (sums,) = fields_of(records, "Number of evictions/requests")
    assert (sums["totalEvicted"], sums["refused"]) == (num_evicted, num_attempts(plan))
    by_plugin = {(f["profile"], f["strategy"]): f for f in fields_of(records, "Total number of evictions/requests")}
    for plugin in plan["plugins"]:
        assert by_plugin[plugin["profile"], plugin["plugin"]]["evictedPods"] == plugin["evicted"]


@pytest.mark.parametrize(("policy", "sample"), on_samples(*NOW))
def test_a_sample(policy: str, sample: str, caplog: pytest.LogCaptureFixture) -> None:
    decisions = decided(policy, sample)
    again = decide_again(decisions.snapshot, now=decisions.now)

    check_plan(make_plan(with_beyond(decisions, again)), caplog)


@pytest.fixture(scope="module")
def world() -> Snapshot:
    builder = SnapshotBuilder("generated", SnapshotRequest(keep_templates=True))
    for page in generate_cluster(nodes=30, pods=1200, seed=7):
        builder.add_object(page)
    return builder.finish(taken_at=GENERATED_AT)


@pytest.mark.parametrize(
    "top",
    [
        pytest.param({}, id="without limits"),
        pytest.param({"maxNoOfPodsToEvictTotal": 30}, id="with a limit of the run"),
        pytest.param({"maxNoOfPodsToEvictPerNode": 2, "maxNoOfPodsToEvictPerNamespace": 6}, id="with other limits"),
        pytest.param(
            {"maxNoOfPodsToEvictTotal": 25, "maxNoOfPodsToEvictPerNode": 2, "maxNoOfPodsToEvictPerNamespace": 6},
            id="with all limits",
        ),
    ],
)
def test_two_profiles_of_all_plugins(world: Snapshot, top: Object, caplog: pytest.LogCaptureFixture) -> None:
    one = policy_of(list(STRATEGIES), node_fit=False)
    two = policy_of(["RemoveDuplicates", "PodLifeTime"], node_fit=False)["profiles"][0]
    policy = load_policy({**one, **top, "profiles": [*one["profiles"], {**two, "name": "two"}]}, REGISTRY)

    decisions = decide(policy, world, now=GENERATED_AT)

    plan = make_plan(with_beyond(decisions, decide_again(world, now=GENERATED_AT)))

    check_plan(plan, caplog)
    assert plan.repeated_requests or top


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_a_live_run(fake_api: FakeApi, client: KubeClient, limit: int, caplog: pytest.LogCaptureFixture) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4"))
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")
    result = run(client, taint_policy(f"maxNoOfPodsToEvictTotal: {limit}"))
    plan = make_plan(result.decisions)
    outcome = make_outcome(plan, result.decisions, result.outcomes)
    caplog.clear()

    check_outcome(outcome, caplog)

    assert outcome.counts["evicted"] == 4 - len(fake_api.pods())
    assert outcome.counts["evicted"] + outcome.counts["refused"] == len(eviction_requests(fake_api))


@pytest.mark.parametrize("limit", [2, 3, 9])
def test_a_dry_run_of_apply(fake_api: FakeApi, cli: Cli, limit: int, tmp_path: Path) -> None:
    """With an eviction that is not possible any more."""
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4", cpu="500m"))
    file, metrics = tmp_path / "plan.json", tmp_path / "metrics.prom"
    cli.policy.write_text(taint_policy(f"maxNoOfPodsToEvictTotal: {limit}"))
    assert cli.run("--out", str(file), command="plan")[0] == 0
    fake_api.objects["/api/v1/pods"].pop(0)
    flags = (str(file), "--dry-run", "--allow-partial", "--metrics-textfile", str(metrics))

    shown = {form: cli.run(*flags, "-o", form, command="apply")[1] for form in ("table", "wide", "name", "json")}

    plan = json.loads(shown["json"])
    check_document(plan)
    counts = {count["code"]: count["count"] for count in plan["refusalCounts"]}
    figures = TableFigures(len(shown["name"].splitlines()), counts)
    assert figures.num_evicted == len(plan["moves"])
    assert (read_table(shown["table"]), read_table(shown["wide"])) == (figures, figures)
    assert _sample(metrics.read_text(), "descheduler_moves_planned") == len(plan["moves"])
    assert eviction_requests(fake_api) == []


def _sample(text: str, name: str) -> float:
    """The sum of the samples of this name."""
    families = text_string_to_metric_families(text)
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


def check_outcome(outcome: OutcomeDocument, caplog: pytest.LogCaptureFixture) -> None:
    """Everything that one run shows of what it did."""
    document = json.loads(json_text(outcome))
    check_document(document["plan"])
    counts = Counter(result["result"] for result in document["results"])
    assert +Counter(document["counts"]) == counts
    table = read_table("".join(render(outcome, "table")))
    assert table.num_evicted == counts["evicted"]
    assert table.refused == Counter(refusal["code"] for refusal in document["plan"]["refusals"])
    record = RunRecord(plan=outcome.plan, outcome=outcome)
    assert metrics_of(record, "descheduler_pods_evicted_total", "result")["success",] == counts["evicted"]
    assert metrics_of(record, "descheduler_eviction_outcomes", "result") == Counter(
        {(kind,): number for kind, number in counts.items()}
    )
    check_attempts(record, document["plan"])
    with caplog.at_level(logging.DEBUG, "descheduler"):
        log_outcome(outcome)
    check_sums(caplog.records, document["plan"], num_evicted=counts["evicted"])
