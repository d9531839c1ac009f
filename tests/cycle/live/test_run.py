"""Whole runs: what each kind of run reads, writes and leaves."""

from __future__ import annotations

import json
import signal
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.applying import PlanRefusedError
from descheduler.cycle.options import PlanToApply, RunOptions, RunResult
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.model.verdict import Reason
from descheduler.plan.outcome import OutcomeCode
from descheduler.report.plan.file import ClusterIdentity, PlanFile, make_plan_file
from descheduler.supervision import RunStopped
from tests.builders import pod_object
from tests.cycle.live.runs import FAST, WITH_LEASE, crowded, evicted, run, taint_policy, writes
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import watch_of

DRY = replace(WITH_LEASE, dry_run=True)


def status_of(cluster: LivingCluster) -> list[dict[str, Any]]:
    """The runs of which the status beside the Lease tells, the latest first."""
    kept = cluster.get("configmaps", "d-status", "kube-system")
    return [] if kept is None else list(json.loads(kept["data"]["status.json"])["runs"])


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        pytest.param(FAST, {"eviction", "events"}, id="without a Lease"),
        pytest.param(WITH_LEASE, {"eviction", "events", "leases", "configmaps"}, id="with a Lease and a status"),
        pytest.param(
            replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system", is_wanted=False)),
            {"eviction", "events", "configmaps"},
            id="with a status alone",
        ),
        pytest.param(DRY, set(), id="a dry run"),
    ],
)
def test_run_writes_what_its_options_ask_for(options: RunOptions, kinds: set[str]) -> None:
    cluster = crowded("web", "api")

    result = run(cluster, options=options)

    assert writes(cluster) == kinds
    assert sorted(evicted(cluster)) == ([] if options.dry_run else ["api", "web"])
    assert [outcome.code for outcome in result.outcomes] == ([] if options.dry_run else [OutcomeCode.DONE] * 2)
    assert (result.guard, result.signal_number, result.cluster_uid, result.is_partial) == ("", None, "", False)


def test_status_says_how_the_run_went() -> None:
    cluster = crowded("web")
    cluster.clock.sleep(1000)

    run(cluster, options=WITH_LEASE)

    (kept,) = status_of(cluster)
    lease = cluster.get("leases.coordination.k8s.io", "d", "kube-system")
    assert (kept["planned"], kept["counts"]["evicted"], kept["stoppedBy"]) == (1, 1, "")
    assert 0 < kept["seconds"] < 600
    assert lease is not None
    assert "holderIdentity" not in lease["spec"]


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("asked", "is_looked_up"), [({}, None), ({"most_assessed": 0}, False), ({"most_assessed": 1}, True)]
)
def test_landings_are_looked_up_for_the_report_of_a_dry_run_or_on_request(
    dry_run: bool, asked: dict[str, Any], is_looked_up: bool | None
) -> None:
    cluster = crowded("web")

    result = run(cluster, options=replace(FAST, dry_run=dry_run, **asked))

    expected = dry_run if is_looked_up is None else is_looked_up
    assert [move.landing is not None for move in result.decisions.moves] == [expected]
    assert bool(cluster.api.sent("GET", "/limitranges")) is expected


def test_run_that_observes_says_where_replacements_are_ready() -> None:
    cluster = crowded("web")

    result = run(cluster, options=replace(FAST, observe_seconds=60.0))

    (outcome,) = result.outcomes
    assert outcome.eviction.landing is not None
    assert outcome.landed_on in ("n2", "n3")


@pytest.mark.parametrize(
    ("options", "is_named"), [(FAST, False), (replace(FAST, identifies_cluster=True), True), (DRY, False)]
)
def test_run_names_the_cluster_on_request(options: RunOptions, is_named: bool) -> None:
    cluster = crowded("web")
    namespace = cluster.get("namespaces", "kube-system")
    assert namespace is not None

    result = run(cluster, options=options)

    assert result.cluster_uid == (namespace["metadata"]["uid"] if is_named else "")


def test_dry_run_takes_objects_as_created_that_are_not_there() -> None:
    assumed = pod_object("assumed", node="n1", owners=["ReplicaSet/assumed"])

    result = run(crowded("web"), options=replace(DRY, assumed=[assumed]))

    assert sorted(move.pod.name.partition("-")[0] for move in result.decisions.moves) == ["assumed", "web"]


@pytest.mark.parametrize("dry_run", [False, True])
def test_report_names_pods_that_match_beyond_the_limits(dry_run: bool) -> None:
    cluster = crowded("web", "api", "db")

    result = run(cluster, taint_policy(maxNoOfPodsToEvictTotal=1), replace(FAST, dry_run=dry_run))

    assert len(result.decisions.moves) == 1
    assert result.decisions.beyond.is_whole
    assert len(result.decisions.beyond.cut_off) == 2


def test_run_that_is_stopped_before_it_reads_raises() -> None:
    cluster = crowded("web")
    watch = watch_of(cluster)
    watch.request_stop(signal.SIGTERM)

    with pytest.raises(RunStopped):
        run(cluster, options=WITH_LEASE, watch=watch)
    assert writes(cluster) <= {"leases"}


def test_run_whose_time_ends_between_evictions_says_what_stopped_it() -> None:
    cluster = crowded("web", "api")

    result = run(cluster, options=replace(WITH_LEASE, qps=0.001, burst=1), watch=watch_of(cluster, 60.0))

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE, OutcomeCode.DEADLINE]
    assert (result.guard, result.signal_number) == ("--deadline 60s", None)
    assert status_of(cluster)[0]["stoppedBy"] == "--deadline 60s"


def planned(cluster: LivingCluster) -> PlanFile:
    """The plan of a dry run, in a file."""
    result = run(cluster, options=replace(DRY, identifies_cluster=True))
    identity = ClusterIdentity(server="http://living.cluster", uid=result.cluster_uid)
    return make_plan_file(result.decisions, identity)


def apply(cluster: LivingCluster, file: PlanFile, policy: str | None = None, **facts: Any) -> RunResult:
    """The run that carries out a plan."""
    dry_run = facts.pop("dry_run", False)
    to_apply = PlanToApply(file, timedelta(minutes=5), **facts)
    return run(cluster, policy, replace(WITH_LEASE, apply=to_apply, dry_run=dry_run))


def untainted(cluster: LivingCluster) -> None:
    """Has the pods no cause to leave any more."""
    cluster.store.edit("nodes", "n1", "", lambda found: found["spec"].update(taints=[]))


def relabelled(cluster: LivingCluster, app: str) -> None:
    """Gives the pod of an app another label."""
    (pod,) = cluster.pods(app)
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    cluster.store.edit("pods", name, namespace, lambda found: found["metadata"]["labels"].update(new="yes"))


@pytest.mark.parametrize("dry_run", [False, True])
def test_plan_is_carried_out_as_it_is(dry_run: bool) -> None:
    cluster = crowded("web", "api")
    file = planned(cluster)

    result = apply(cluster, file, dry_run=dry_run)

    assert sorted(evicted(cluster)) == ([] if dry_run else ["api", "web"])
    assert [move.landing is not None for move in result.decisions.moves] == [True, True]
    assert (result.cluster_uid, result.is_partial) == (file.cluster.uid, False)


def test_plan_of_another_cluster_is_refused_before_anything_is_read() -> None:
    cluster = crowded("web")
    file = replace(planned(cluster), cluster=ClusterIdentity(server="https://b", uid="other"))
    reads = len(cluster.api.sent("GET", "/pods"))

    with pytest.raises(PlanRefusedError, match="another cluster"):
        apply(cluster, file)
    assert len(cluster.api.sent("GET", "/pods")) == reads
    assert evicted(cluster) == []


def test_plan_of_which_a_move_has_changed_is_refused_or_carried_out_in_part() -> None:
    cluster = crowded("web", "api")
    file = planned(cluster)
    relabelled(cluster, "web")

    with pytest.raises(PlanRefusedError, match="has other labels"):
        apply(cluster, file)
    assert evicted(cluster) == []

    result = apply(cluster, file, allows_partial=True)

    assert evicted(cluster) == ["api"]
    assert result.is_partial
    assert [note for note in result.decisions.notes if "left out of the plan: pod shop/web-" in note]


def test_pods_that_no_plugin_selects_any_more_are_left_out_of_a_plan() -> None:
    cluster = crowded("web", "api")
    file = planned(cluster)
    (web,) = cluster.pods("web")
    toleration = {"key": "gone", "operator": "Exists"}
    cluster.store.edit(
        "pods", web["metadata"]["name"], "shop", lambda found: found["spec"].update(tolerations=[toleration])
    )

    result = apply(cluster, file, allows_partial=True)

    assert evicted(cluster) == ["api"]
    assert [each.verdict.reason for each in result.decisions.refusals] == [Reason.NOT_SELECTED]


def test_what_matches_beyond_the_limits_is_not_looked_for_in_a_plan() -> None:
    cluster = crowded("web", "api")
    policy = taint_policy(maxNoOfPodsToEvictTotal=1)
    file = make_plan_file(run(cluster, policy, DRY).decisions, ClusterIdentity(server="", uid=""))

    result = apply(cluster, file, policy)

    assert (len(result.outcomes), result.decisions.beyond.cut_off) == (1, ())


def test_plan_may_be_carried_out_without_asking_the_plugins_again() -> None:
    cluster = crowded("web")
    file = planned(cluster)
    relabelled(cluster, "web")

    apply(cluster, file, reselects=False)

    assert evicted(cluster) == ["web"]
