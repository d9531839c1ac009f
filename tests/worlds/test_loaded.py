"""The cluster with NodeMetrics, its sample, and the whole way of a run of LowNodeLoad over it."""

from __future__ import annotations

import gzip
import io
from datetime import timedelta
from functools import partial
from pathlib import Path

from descheduler import evaluate
from descheduler.cluster.dumps.read import read_dump
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.plan.decisions import Decisions
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.load import load_policy
from tests.worlds.loaded import LOADED_AT, write_loaded

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "config" / "samples" / "load.jsonl.gz"
POLICY = ROOT / "config" / "profiles" / "low-node-load.yaml"


def runs(number: int) -> list[Decisions]:
    """So many runs of the profile over the sample, each with the memory of the one before."""
    policy = load_policy(POLICY, REGISTRY)
    snapshot = read_dump([SAMPLE], snapshot_request(policy, Landings.ASSESSED))
    decide_at = partial(decide, policy, snapshot)
    memory, results = RunMemory(), []
    for index in range(number):
        decisions = decide_at(now=LOADED_AT + timedelta(seconds=index), setting=RunSetting(memory=memory))
        memory = decisions.memory
        results.append(decisions)
    return results


def test_bundled_sample_is_the_loaded_cluster() -> None:
    out = io.BytesIO()

    write_loaded(out)

    assert gzip.decompress(out.getvalue()) == gzip.decompress(SAMPLE.read_bytes()), "run: python -m tests.worlds.loaded"


def test_first_run_over_the_sample_says_how_many_more_it_takes() -> None:
    plan = evaluate(POLICY, SAMPLE, LOADED_AT).plan

    (plugin,) = (each for each in plan.plugins if each.plugin == "LowNodeLoad")
    assert plugin.facts is not None
    assert plugin.facts.why_nothing == (
        "2 nodes are overutilized for 1 run; pods are evicted from 3 runs in a row on "
        "(anomalyCondition.consecutiveAbnormalities: 2); earlier runs are unknown here"
    )
    assert plugin.facts.nodes is not None
    assert (plugin.facts.nodes.under, plugin.facts.nodes.over) == (4, 2)


def test_third_run_in_a_row_moves_the_least_important_pods_to_nodes_that_are_verified() -> None:
    *early, third = runs(3)

    assert [len(decisions.moves) for decisions in early] == [0, 0]
    assert {move.pod.node_name for move in third.moves} == {"node-1", "node-4"}
    assert {move.to_node for move in third.moves} <= {"node-2", "node-3", "node-5", "node-6"}
    assert third.moves[0].pod.name.startswith("report-")
    assert third.moves[0].reason.startswith("node is overutilized, node cpu usage(")
    assert third.is_verified
