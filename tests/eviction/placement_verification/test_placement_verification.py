"""PlacementVerification: an eviction goes through only when the pod that comes instead lands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.eviction.placement_verification.placement_verification import (
    PlacementVerificationArgs,
    default_args,
    validate_args,
)
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.types import PolicyKind
from descheduler.report.plan.making import make_plan
from descheduler.report.tables.summary import landing_summary
from tests.builders import NOW, make_node, make_pod, make_snapshot

FULL = {"cpu": "1"}
CORDONED = make_node("a", unschedulable=True)


def policy_of(
    *strategies: str, verifies: bool = True, kind: PolicyKind = "DeschedulerPolicy", **args: object
) -> dict[str, Any]:
    """A policy that runs strategies without arguments; by default they evict every pod that is older than a minute."""
    if kind == "DeschedulerConfiguration":
        disabled = {} if verifies else {"filter": {"disabled": [{"name": "PlacementVerification"}]}}
        plugins: dict[str, Any] = {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}, **disabled}
    else:
        plugins = {"deschedule": {"enabled": [s for s in strategies or ("PodLifeTime",) if s == "PodLifeTime"]}}
        plugins["balance"] = {"enabled": [s for s in strategies if s != "PodLifeTime"]}
        if verifies:
            plugins["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    configs: list[dict[str, Any]] = [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}]
    configs += [{"name": strategy} for strategy in strategies if strategy != "PodLifeTime"]
    configs += [{"name": "PlacementVerification", "args": args}] if verifies else []
    if kind == "DeschedulerConfiguration":
        configs += [
            {
                "name": "MigrationController",
                "args": {
                    "maxMigratingPerNode": 0,
                    "maxUnavailablePerWorkload": 2,
                    "maxMigratingPerWorkload": 2,
                    "objectLimiters": {"workload": {"duration": "0s"}},
                },
            }
        ]
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": kind,
        "profiles": [{"name": "p", "pluginConfig": configs, "plugins": plugins}],
    }


def run(nodes: Sequence[Node], pods: Sequence[Pod], policy: dict[str, Any] | None = None, **facts: Any) -> Decisions:
    loaded = load_policy(policy or policy_of(), REGISTRY)
    return decide(loaded, make_snapshot(nodes, pods, **facts), now=NOW)


def evicted(decisions: Decisions) -> list[str]:
    return [booked.pod.name for booked in decisions.moves]


def codes(decisions: Decisions) -> dict[str, str]:
    return {
        refusal.pod.name: str(refusal.verdict.reason.value)
        for refusal in decisions.refusals
        if refusal.verdict.reason is not None
    }


def test_as_many_pods_go_as_land_together() -> None:
    pods = [make_pod(name, node="a", cpu="1") for name in ("one", "two", "three")]
    room_for_two = make_node("b", cpu="2")

    decisions = run([CORDONED, room_for_two], pods)

    assert evicted(decisions) == ["one", "three"]
    assert codes(decisions) == {"two": "NoLanding"}


def test_without_it_all_go_and_the_report_says_who_is_left_pending() -> None:
    pods = [make_pod(name, node="a", cpu="1") for name in ("one", "two", "three")]

    decisions = run([CORDONED, make_node("b", cpu="2")], pods, policy_of(verifies=False))

    landings = [move.landing for move in decisions.moves]
    assert sorted(evicted(decisions)) == ["one", "three", "two"]
    assert sorted(landing.verdict.value for landing in landings if landing) == ["lands", "lands", "no"]
    assert not decisions.is_verified


@pytest.mark.parametrize(
    ("disabled", "is_off"),
    [
        pytest.param("*", False, id="a star leaves it on"),
        pytest.param("PlacementVerification", True, id="its name turns it off"),
    ],
)
def test_the_report_says_where_it_is_off(disabled: str, is_off: bool) -> None:
    policy = policy_of(kind="DeschedulerConfiguration")
    policy["profiles"][0]["plugins"]["filter"] = {"disabled": [{"name": disabled}]}
    pods = [make_pod(f"web-{index}", node="a", cpu="1", scheduler="koord-scheduler") for index in range(4)]
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 4)

    decisions = run([CORDONED, make_node("b", cpu="1")], pods, policy, workloads={web.uid: web})

    off = "PlacementVerification is disabled in profile p: pods are evicted even if their replacement stays pending"
    assert len(evicted(decisions)) == (2 if is_off else 1)
    assert (off in make_plan(decisions).warnings) is is_off


def test_refusal_counts_the_nodes_by_reason() -> None:
    nodes = [CORDONED, make_node("b", cpu="500m"), make_node("c", taints=["closed=yes:NoSchedule"])]

    decisions = run(nodes, [make_pod("big", node="a", cpu="1")])

    (refusal,) = decisions.refusals
    assert "0/3 nodes" in refusal.verdict.message
    for reason in ("1 insufficient cpu", "1 untolerated taint", "1 unschedulable"):
        assert reason in refusal.verdict.message


def test_pod_that_nothing_brings_back_needs_no_node() -> None:
    finished = make_pod("finished", node="a", cpu="1", phase="Succeeded")

    decisions = run([CORDONED, make_node("b", cpu="10m")], [finished])

    assert evicted(decisions) == ["finished"]
    totals = make_plan(decisions).landings
    assert (totals.lands, totals.not_created) == (1, 1)
    assert landing_summary(totals).startswith("1 not created again")


@pytest.mark.parametrize(
    ("on_unknown", "expected"),
    [pytest.param("", [], id="refused by default"), pytest.param("allow", ["odd"], id="allowed")],
)
def test_pod_of_an_unknown_scheduler_is_likely_and_refused_as_unknown(on_unknown: str, expected: list[str]) -> None:
    odd = make_pod("odd", node="a", scheduler="homemade")

    decisions = run([CORDONED, make_node("b")], [odd], policy_of(onUnknown=on_unknown))

    assert evicted(decisions) == expected
    assert codes(decisions) == ({} if expected else {"odd": "UnknownLanding"})


def test_koordinators_scheduler_is_judged_by_the_plugins_that_are_modelled() -> None:
    half = {"koordinator.sh/gpu-core": "50", "koordinator.sh/gpu-memory-ratio": "50"}
    pods = [
        make_pod("plain", node="a", scheduler="koord-scheduler"),
        make_pod("pinned", node="a", scheduler="koord-scheduler", cpu="1", labels={"koordinator.sh/qosClass": "LSR"}),
        make_pod("shared-gpu", node="a", scheduler="koord-scheduler", requests=half),
        make_pod("quota", node="a", scheduler="koord-scheduler", labels={"quota.scheduling.koordinator.sh/name": "q"}),
    ]

    decisions = run([CORDONED, make_node("b")], pods)

    assert evicted(decisions) == ["plain", "quota"]
    assert codes(decisions) == {"pinned": "UnknownLanding", "shared-gpu": "NoLanding"}


def test_pod_that_no_node_has_room_for_stays_although_unknown_landings_are_allowed() -> None:
    odd = make_pod("odd", node="a", cpu="2", scheduler="homemade")

    decisions = run([CORDONED, make_node("b", cpu="1")], [odd], policy_of(onUnknown="allow"))

    assert codes(decisions) == {"odd": "NoLanding"}


def test_likely_landing_is_no_reason_to_refuse_a_return_where_unknown_ones_are_allowed() -> None:
    """The scheduler that is not modelled may well choose another node."""
    odd = make_pod("odd", node="a", scheduler="homemade")

    decisions = run(
        [make_node("a"), make_node("b", pods="0")], [odd], policy_of(onUnknown="allow", onReturnToSource="refuse")
    )

    assert evicted(decisions) == ["odd"]
    landing = make_plan(decisions).moves[0].landing
    assert landing is not None
    assert (landing.verdict, landing.returns_to_source) == ("likely", True)


def test_named_schedulers_are_taken_for_the_first_profile() -> None:
    odd = make_pod("odd", node="a", scheduler="homemade")

    decisions = run([CORDONED, make_node("b")], [odd], policy_of(schedulerNames=["homemade"]))

    assert evicted(decisions) == ["odd"]


@pytest.mark.parametrize(
    ("on_return", "strategy", "expected"),
    [
        pytest.param("", "PodLifeTime", 2, id="by default a pod may restart where it is"),
        pytest.param("refuse", "PodLifeTime", 0, id="refused to every plugin"),
        pytest.param("", "RemoveDuplicates", 0, id="by default balancing may not bring it back"),
        pytest.param("allow", "RemoveDuplicates", 1, id="allowed to balancing plugins that need not gain by it"),
    ],
)
def test_pod_that_would_come_straight_back(on_return: str, strategy: str, expected: int) -> None:
    preferred = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "preference": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["main"]}]},
                }
            ]
        }
    }
    pods = [make_pod(f"web-{index}", node="a", affinity=preferred) for index in range(2)]
    nodes = [make_node("a", labels={"tier": "main"}), make_node("b")]

    decisions = run(nodes, pods, policy_of(strategy, onReturnToSource=on_return, requireGain=False))

    assert len(evicted(decisions)) == expected
    assert set(codes(decisions).values()) <= {"ReturnsToSource"}


def test_koordinators_kind_verifies_unless_told_otherwise() -> None:
    pods = [make_pod(f"web-{index}", node="a", cpu="1", scheduler="koord-scheduler") for index in range(4)]
    nodes = [CORDONED, make_node("b", cpu="1")]
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 4)

    verified = run(nodes, pods, policy_of(kind="DeschedulerConfiguration"), workloads={web.uid: web})
    blind = run(nodes, pods, policy_of(kind="DeschedulerConfiguration", verifies=False), workloads={web.uid: web})

    assert (len(evicted(verified)), len(evicted(blind))) == (1, 2)
    assert "NoLanding" in codes(verified).values()


def test_arguments_have_defaults() -> None:
    args = default_args(PlacementVerificationArgs())

    assert (args.on_unknown, args.on_conditional, args.on_return_to_source) == ("refuse", "refuse", "refuseBalance")
    assert args.scheduler_names == ("koord-scheduler",)


@pytest.mark.parametrize(
    ("args", "field", "message"),
    [
        pytest.param({"on_unknown": "maybe"}, "onUnknown", "'maybe' is not one of refuse, allow", id="a word"),
        pytest.param({"kube_version": "latest"}, "kubeVersion", "latest", id="a version"),
        pytest.param({"feature_gates": {"PodLevelResource": True}}, "featureGates", "PodLevelResources", id="a gate"),
    ],
)
def test_bad_arguments_are_named(args: dict[str, Any], field: str, message: str) -> None:
    (problem,) = validate_args(PlacementVerificationArgs(**args))

    assert problem.field == field
    assert message in problem.message


def test_scheduler_configuration_that_is_not_there_is_named(tmp_path: Path) -> None:
    policy = policy_of(schedulerConfigFile=str(tmp_path / "none.yaml"))

    with pytest.raises(PolicyError) as caught:
        load_policy(policy, REGISTRY)

    (problem,) = caught.value.problems
    assert problem.field == "profiles[0].pluginConfig[1].args.schedulerConfigFile"
    assert "none.yaml" in problem.message


def test_relative_scheduler_configuration_starts_from_the_folder_of_the_policy(tmp_path: Path) -> None:
    """As ConfigMaps are mounted: each file is a link through a folder that is replaced with every change."""
    (tmp_path / "..data").mkdir()
    for name, document in (
        ("policy.yaml", policy_of(schedulerConfigFile="scheduler.yaml")),
        ("scheduler.yaml", {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}),
    ):
        (tmp_path / "..data" / name).write_text(json.dumps(document))
        (tmp_path / name).symlink_to(Path("..data") / name)

    policy = load_policy(tmp_path / "policy.yaml", REGISTRY)

    assert list(policy.scheduler_files) == ["scheduler.yaml"]


def test_relative_scheduler_configuration_that_is_not_there_is_named_with_where_it_was_looked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "policy.yaml").write_text(json.dumps(policy_of(schedulerConfigFile="a/none.yaml")))

    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path / "policy.yaml", REGISTRY)

    (problem,) = caught.value.problems
    assert problem.message == (
        f"a/none.yaml (relative to the policy file: {tmp_path}/a/none.yaml): "
        "no such file; name the scheduler configuration file to read"
    )


@pytest.fixture
def scheduler_file(tmp_path: Path) -> Path:
    """The configuration of a scheduler `homemade` that does not look at taints."""
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: homemade
  plugins: {filter: {disabled: [{name: TaintToleration}]}}
"""
    )
    return file


def test_deciding_reads_no_file(scheduler_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = load_policy(
        policy_of("PodLifeTime", "RemoveDuplicates", schedulerConfigFile=str(scheduler_file)), REGISTRY
    )
    snapshot = make_snapshot([CORDONED, make_node("b")], [make_pod("odd", node="a", scheduler="homemade")])
    decide(policy, snapshot, now=NOW)  # whatever is imported on the way is read now
    scheduler_file.unlink()

    def refuse(*arguments: object, **_: object) -> NoReturn:
        raise AssertionError(f"opened {arguments[0]}")

    for name in ("builtins.open", "io.open", "os.open"):
        monkeypatch.setattr(name, refuse)
    decisions = decide(policy, snapshot, now=NOW)

    assert evicted(decisions) == ["odd"]


def test_the_plan_names_the_scheduler_files_that_were_read(scheduler_file: Path) -> None:
    policy = policy_of(schedulerConfigFile=str(scheduler_file))

    first = make_plan(run([CORDONED, make_node("b")], [], policy)).policy.scheduler_files
    scheduler_file.write_text(scheduler_file.read_text().replace("homemade", "theirs"))
    second = make_plan(run([CORDONED, make_node("b")], [], policy)).policy.scheduler_files

    assert [file.path for file in (*first, *second)] == [str(scheduler_file)] * 2
    assert first[0].digest != second[0].digest
    assert len(first[0].digest) == 64


def test_scheduler_configuration_of_the_file_decides(scheduler_file: Path) -> None:
    odd = make_pod("odd", node="a", scheduler="homemade")

    decisions = run(
        [CORDONED, make_node("b", taints=["closed=yes:NoSchedule"])],
        [odd],
        policy_of(schedulerConfigFile=str(scheduler_file)),
    )

    assert evicted(decisions) == ["odd"]


def test_what_was_granted_one_by_one_is_judged_together() -> None:
    pods = [make_pod(name, node="a", cpu="1") for name in ("one", "two")]

    decisions = run([CORDONED, make_node("b", cpu="2")], pods)

    together = decisions.together
    assert together is not None
    assert (together.verdict.value, together.certificate) == ("lands", "")
    totals = make_plan(decisions).landings
    assert (totals.together, totals.lands, totals.is_verified) == ("lands", 2, True)
    assert landing_summary(totals) == "2 can be scheduled; all that are evicted together fit in every order"


def test_a_pod_stays_that_may_take_the_only_node_of_another_one() -> None:
    """The small one would take the only place of the large one, if it came first: emptier nodes score better."""
    large = make_pod("a-large", node="source", cpu="4")
    small = make_pod("b-small", node="source", cpu="2", labels={"app": "small"})
    nodes = [make_node("source", cpu="8", unschedulable=True), make_node("x", cpu="4"), make_node("y", cpu="2")]

    decisions = run(nodes, [large, small])

    assert (evicted(decisions), codes(decisions)) == (["a-large"], {"b-small": "OrderDependentLanding"})
    totals = make_plan(decisions).landings
    assert (totals.together, totals.lands) == ("lands", 1)


def test_order_that_decides_is_told_where_not_all_is_verified() -> None:
    totals = make_plan(run([CORDONED, make_node("b")], [make_pod(name, node="a") for name in ("one", "two")])).landings
    doubtful = msgspec.structs.replace(totals, together="lands_if", is_verified=False)

    together = "in some orders, or if a condition fails, some of them would stay pending"
    assert landing_summary(doubtful).endswith(together)
