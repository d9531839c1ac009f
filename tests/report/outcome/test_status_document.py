"""The status of the last runs: what is kept of each, and how it is read again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.shard import Shard
from descheduler.report.document import ShardIdentity
from descheduler.report.outcome.status_document import (
    MOST_RUNS,
    NOTHING_TAKEN_UP,
    RunSummary,
    StatusDocument,
    StatusError,
    make_summary,
)
from tests.builders import NOW, make_node, make_pod
from tests.report.decided_cycles import OLD, make_test_decisions, pod_life_time_policy
from tests.report.outcomes import EVICTED, FAILED, TOO_LATE

NO_RUN = StatusDocument.decoded("")
LONGEST_TEXT = 500
DECISIONS = make_test_decisions()


def summary(*outcomes: Any, stopped_by: str = "", **world: Any) -> RunSummary:
    return make_summary(
        make_test_decisions(**world) if world else DECISIONS,
        outcomes,
        goals=(),
        stopped_by=stopped_by,
        taken_up=NOTHING_TAKEN_UP,
        num_unused=2,
        seconds=1.26,
        num_api_calls=7,
    )


def test_summary_counts_the_evictions_by_result_and_by_plugin() -> None:
    found = summary(EVICTED, FAILED, TOO_LATE)

    assert (found.planned, found.unconfirmed, found.reservations_unused, found.num_api_calls) == (len(OLD), 0, 2, 7)
    assert (found.counts["evicted"], found.counts["failed"], found.counts["not-attempted"]) == (1, 1, 1)
    assert [(each.plugin, each.counts["evicted"]) for each in found.plugins] == [("PodLifeTime", 1)]
    assert (found.at, found.seconds, found.policy, found.shard) == (NOW, 1.3, "policy.yaml", None)


def test_summary_counts_pods_that_the_plan_does_not_evict_by_reason() -> None:
    pods = [make_pod("bare-1", owners=()), make_pod("bare-2", owners=()), make_pod("set", owners=["DaemonSet/x"])]

    assert summary(pods=pods).not_evicted == {"BarePod": 2, "DaemonSet": 1}


def test_summary_names_the_shard_of_the_run() -> None:
    nodes = [make_node(name, labels={"rack": name}) for name in "abc"]
    shard = Shard(1, 2, label="rack", turn="t")

    assert summary(nodes=nodes, shard=shard).shard == ShardIdentity(
        index=1, count=2, label="rack", turn="t", num_nodes=shard.num_owned(nodes)
    )


def test_long_texts_are_cut_so_that_all_runs_fit() -> None:
    name = "n" * (LONGEST_TEXT + 1)
    eviction = replace(EVICTED.eviction, profile=name)

    found = summary(replace(EVICTED, eviction=eviction), stopped_by=name)

    assert (found.stopped_by, found.plugins[0].profile) == ("n" * LONGEST_TEXT, "n" * LONGEST_TEXT)


def test_run_without_plugins_says_why() -> None:
    assert summary(policy=pod_life_time_policy(nodeSelector="pool=gpu")).skipped.startswith("no ready node matches")


def test_the_latest_runs_are_kept_the_latest_first() -> None:
    run, status = summary(), NO_RUN

    for number in range(MOST_RUNS + 2):
        status = status.with_run(replace(run, planned=number))

    assert [each.planned for each in status.runs] == list(range(MOST_RUNS + 1, 1, -1))


def test_status_is_read_as_it_was_kept() -> None:
    status = NO_RUN.with_run(summary(EVICTED, FAILED))

    assert StatusDocument.decoded(status.encoded()) == status


def test_status_of_a_version_without_shards_is_of_the_whole_cluster() -> None:
    content = json.loads(NO_RUN.with_run(summary(EVICTED)).encoded())
    del content["runs"][0]["shard"]

    assert StatusDocument.decoded(json.dumps(content)).runs[0].shard is None


def test_shard_of_a_run_is_kept() -> None:
    status = NO_RUN.with_run(summary(shard=Shard(1, 2)))

    assert StatusDocument.decoded(status.encoded()).runs[0].shard == status.runs[0].shard


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="cut"),
        pytest.param("[]", id="a list"),
        pytest.param('{"runs": 1}', id="runs that are no list"),
        pytest.param('{"runs": [1]}', id="a run that is no object"),
        pytest.param('{"apiVersion": "descheduler.status/v1", "kind": "Status", "runs": [{}]}', id="an empty run"),
        pytest.param("[" * 100_000, id="too deep"),
    ],
)
def test_text_that_is_no_status_is_an_error_with_a_sentence(text: str) -> None:
    with pytest.raises(StatusError, match="not a status of version"):
        StatusDocument.decoded(text)


def test_shard_that_cannot_be_is_an_error() -> None:
    shard = ShardIdentity(index=2, count=2, label="", turn="", num_nodes=0)
    status = NO_RUN.with_run(replace(summary(), shard=shard))

    with pytest.raises(StatusError, match="shard index 2 is not between 0 and 1"):
        StatusDocument.decoded(status.encoded())
