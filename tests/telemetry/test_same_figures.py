"""What one run says of itself in all its outputs: the same figures."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter

import pytest

from descheduler.report.formats.render import render
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.notices import make_notice
from descheduler.telemetry.run_record import RunRecord
from tests.cycle.shipped import decided


@pytest.fixture(scope="module")
def plan() -> Plan:
    """A dry run of the sample policy on its sample."""
    return make_plan(decided("policy.yaml", "shop"))


def metric(plan: Plan, name: str) -> dict[tuple[str, ...], float]:
    """The samples of a metric by the values of its labels."""
    registry = run_registry(RunRecord(plan=plan, exit_code=0, is_dry=True), last_success=None)
    samples = (sample for family in registry.collect() for sample in family.samples if sample.name == name)
    return {tuple(sample.labels.values()): sample.value for sample in samples}


def decisions(plan: Plan) -> Counter[str]:
    """How many rows of the CSV have each decision."""
    return Counter(row["decision"] for row in csv.DictReader(io.StringIO("".join(render(plan, "csv")))))


def kinds_of_lines(plan: Plan) -> Counter[str]:
    """How many lines of JSON Lines have each type."""
    return Counter(json.loads(line)["type"] for line in "".join(render(plan, "jsonl")).splitlines())


def test_evictions_are_as_many_in_all_outputs(plan: Plan) -> None:
    number = len(json.loads("".join(render(plan, "json")))["moves"])
    sentence = f"{number} pods would be evicted"

    assert number > 1
    assert len("".join(render(plan, "name")).splitlines()) == number
    assert decisions(plan)["evict"] == number
    assert kinds_of_lines(plan)["moves"] == number
    assert sentence in "".join(render(plan, "table")).splitlines()
    assert f"<h1>{sentence}</h1>" in "".join(render(plan, "html"))
    assert re.search(f"^# .*{sentence}$", "".join(render(plan, "markdown")), re.MULTILINE)
    assert sum(metric(plan, "descheduler_moves_planned").values()) == number
    assert make_notice(RunRecord(plan=plan, exit_code=0, is_dry=True), "main").summary == f"{sentence} (dry run)"


def test_pods_that_are_not_evicted_are_as_many_in_all_outputs(plan: Plan) -> None:
    codes = [refusal["code"] for refusal in json.loads("".join(render(plan, "json")))["refusals"]]
    of_metric = metric(plan, "descheduler_refusals")
    table, page = ("".join(render(plan, name)) for name in ("table", "html"))

    assert decisions(plan)["blocked"] == kinds_of_lines(plan)["refusals"] == len(codes)
    for code in set(codes):
        assert sum(value for labels, value in of_metric.items() if code in labels) == codes.count(code)
        assert re.search(rf"^{codes.count(code)} +{code} ", table, re.MULTILINE)
        assert f'<td class="number">{codes.count(code)}</td>' in re.sub(r"\s+", " ", page)
    assert f" of {len(codes)} pods; -o wide shows all" in table
    assert f"Not evicted:        {len(codes)} pods (" in table


def test_pods_of_the_cluster_are_as_many_in_all_outputs(plan: Plan) -> None:
    table = "".join(render(plan, "table"))
    (on_nodes,) = re.findall(r"\((\d+) pods on \d+ nodes\)", table)

    for name in ("html", "markdown"):
        assert f"{plan.snapshot.num_pods} pods, {on_nodes} of them on nodes" in "".join(render(plan, name))
