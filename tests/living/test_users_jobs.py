"""A process carries out PodMigrationJobs of users, some of which run already: all that it says is what it did."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from descheduler.report.outcome.status_document import RunSummary, StatusDocument
from tests.integration.live_processes import Cli
from tests.living.builders import deployment, living_cluster, node, pod
from tests.living.cluster import LivingCluster
from tests.living.http import LivingServer
from tests.migration.roads.users_jobs import JOBS, job_for
from tests.migration.roads.whole_runs import WAYS, policy_of

Object = dict[str, Any]
LIMIT = 10


@pytest.fixture
def cluster() -> LivingCluster:
    """20 pods whose jobs run, a bare pod whose job runs, and a pod that the plugin selects."""
    facts: dict[str, Any] = {"cpu": "10m", "grace_seconds": 1}
    asked = [deployment(f"asked-{number:02}", 3, on=["n2"] * 3, **facts) for number in range(20)]
    tainted = deployment("tainted", 3, on=["n1", "n2", "n2"], **facts)
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    cluster = living_cluster(nodes, [*asked, tainted, [pod("etcd", on="n3")]])
    for victim in [*(cluster.pods(f"asked-{number:02}")[0] for number in range(20)), *cluster.pods("etcd")]:
        job = job_for(victim)
        del job["spec"]["ttl"]  # the process goes by another clock
        cluster.add(job)
    return cluster


@pytest.fixture
def cli(cluster: LivingCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """The command line against the cluster over HTTP, twenty times as fast as real time."""
    with LivingServer(cluster, scale=20) as server:
        started = Cli(tmp_path, server.write_kubeconfig(tmp_path / "kubeconfig"), capsys)
        limited = f"maxNoOfPodsToEvictTotal: {LIMIT}\n"
        started.policy.write_text(policy_of(WAYS["directly"], maxMigratingPerNode="0") + limited)
        yield started
        started.close()


def num_left(cluster: LivingCluster) -> int:
    return sum(call.code == 201 for call in cluster.api.sent("POST", "/eviction"))


def kept_status(cluster: LivingCluster) -> RunSummary:
    (found,) = [each for each in cluster.all("configmaps") if each["metadata"]["name"].endswith("-status")]
    return StatusDocument.decoded(found["data"]["status.json"]).runs[0]


def test_all_outputs_tell_the_same_number_of_pods(cluster: LivingCluster, cli: Cli, tmp_path: Path) -> None:
    metrics = tmp_path / "run.prom"

    code, out, err = cli.run("-o", "json", "--detailed-exitcode", "--metrics-textfile", str(metrics))

    outcome, status = json.loads(out), kept_status(cluster)
    assert (code, num_left(cluster)) == (3, LIMIT), err
    assert outcome["counts"]["evicted"] == status.counts["evicted"] == LIMIT
    assert outcome["counts"] == status.counts
    assert outcome["counts"]["not-attempted"] == 11
    lines = metrics.read_text().splitlines()
    of_runs = [line for line in lines if line.startswith("descheduler_pods_evicted_total{") and '"success"' in line]
    assert sum(float(line.split()[-1]) for line in of_runs) == LIMIT
    assert f"totalEvicted={LIMIT}" in err
    assert cluster.pods("etcd")


def test_refused_jobs_are_told_with_code_sentence_and_subject(cluster: LivingCluster, cli: Cli) -> None:
    _, out, _ = cli.run("-o", "json")

    results = {each["job"]: each for each in json.loads(out)["results"]}
    refused = results["job-etcd"]
    assert (refused["result"], refused["code"], refused["check"]) == ("not-attempted", "protected", "BarePod")
    (job,) = [each for each in cluster.all(JOBS) if each["metadata"]["name"] == "job-etcd"]
    assert (job["status"]["reason"], job["status"]["message"]) == ("ForbiddenMigratePod", refused["message"])
    limited = [each for each in results.values() if each["code"] == "limit"]
    assert {(each["check"], each["message"]) for each in limited} == {
        ("LimitReached", "maxNoOfPodsToEvictTotal (10) reached")
    }
    assert len(limited) == 10


def test_table_and_names_tell_of_the_jobs(cluster: LivingCluster, cli: Cli) -> None:
    _, out, err = cli.run()

    assert re.search(rf"^{LIMIT} pods evicted, 11 not attempted$", out, re.MULTILINE)
    assert "Planned, or requested by users, but not evicted: 11 pods" in out
    assert len(re.findall(r'"Evicted pod" .* job="job-asked-\d\d-', err)) == LIMIT
    assert re.search(rf"^PodMigrationJobs of users: {LIMIT} pods evicted$", out, re.MULTILINE)
    assert "PodMigrationJob job-etcd" in out
    assert num_left(cluster) == LIMIT
    _, out, _ = cli.run(command="status")
    header, row = (re.split(r" {2,}", line) for line in out.splitlines()[3:5])
    assert dict(zip(header, row, strict=True))["NOT ATTEMPTED"] == "11"
    assert re.search(rf"^Jobs of users: +{LIMIT} succeeded$", out, re.MULTILINE)


@pytest.mark.long
def test_apply_leaves_jobs_to_the_next_run_and_evicts_the_pods_of_the_plan_alone(
    cluster: LivingCluster, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    (victim,) = cluster.pods("tainted", node="n1")
    code, _, err = cli.run("--out", str(file), command="plan")
    assert code == 0, err

    code, out, err = cli.run(str(file), "-o", "json", command="apply")

    assert code == 0, err
    outcome = json.loads(out)
    assert [each["pod"]["name"] for each in outcome["results"]] == [victim["metadata"]["name"]]
    assert num_left(cluster) == 1
    assert (
        "21 PodMigrationJobs of users are not in this plan: apply evicts only pods of the plan"
        in (outcome["plan"]["warnings"])
    )


def test_refused_plan_evicts_nothing_for_jobs_either(cluster: LivingCluster, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    cli.run("--out", str(file), command="plan")
    cluster.remove(cluster.pods("tainted", node="n1")[0])

    code, out, err = cli.run(str(file), command="apply")

    assert (code, out, num_left(cluster)) == (1, "", 0), err


def test_dry_run_says_that_jobs_are_not_part_of_its_plan(cluster: LivingCluster, cli: Cli) -> None:
    _, out, _ = cli.run("-o", "json", "--dry-run")

    said = "21 PodMigrationJobs of users are not in this plan: a run that evicts checks them first"
    assert any(warning.startswith(said) for warning in json.loads(out)["warnings"])
