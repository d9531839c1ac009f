"""What LoadAware and Rescheduling say of pods, and where their work ends, by usage that was measured."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from descheduler.model.groups.volcano import VolcanoPodGroup
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.policy.types import Compatibility
from descheduler.strategies import load_aware, low_node_utilization, rescheduling
from descheduler.strategies.load_aware import LoadAwareArgs
from descheduler.strategies.low_node_utilization import LowNodeUtilizationArgs, MetricsUtilization, PrometheusQuery
from descheduler.strategies.node_utilization.sampled_usage import LoadMetrics
from descheduler.strategies.rescheduling import ReschedulingArgs, ReschedulingStrategy
from tests.builders import Object, make_node, make_pod
from tests.strategies.asked import Asked

NODES = [make_node(name, cpu="10", memory="1000", labels={"pool": "x"}) for name in ("full", "half", "idle")]
USED = {"full": 9, "half": 5, "idle": 1}
GROUP_NAME = "scheduling.k8s.io/group-name"
IN_TRAIN = {GROUP_NAME: "train"}
OF_POOL = {"nodeSelector": "pool=x"}
SERVER = {"NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io"}


def pod(name: str, node: str = "full", **facts: Any) -> Pod:
    return make_pod(name, node=node, **{"cpu": "1", "annotations": IN_TRAIN, **facts})


def ask(plugin: str, *pods: Pod, used: dict[str, int] | None = None, **settings: Any) -> Asked:
    """A run over nodes of 10 cores of which 9, 5 and 1 are in use; each of `pods` uses one."""
    usage = {name: NodeUsage(name, {"cpu": cores * NANO, "memory": 0}) for name, cores in (used or USED).items()}
    core = {"cpu": NANO, "memory": 0}
    return Asked(
        plugin,
        [*NODES, make_node("other", cpu="10")],
        pods,
        node_usage={**usage, "other": NodeUsage("other", {"cpu": 0, "memory": 0})},
        pod_usage={(each.namespace, each.name): PodUsage(each.namespace, each.name, (core,)) for each in pods},
        other_pod_groups=(VolcanoPodGroup("default", "train", 1, api_group="scheduling.volcano.sh"),),
        **settings,
    )


class TestLoadAware:
    """Nodes above 80 % of their cores are relieved while others are below 30 %."""

    args: ClassVar[Object] = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 80}, **OF_POOL}

    @pytest.mark.parametrize(
        ("facts", "args", "why"),
        [
            pytest.param({}, {}, "node full is overutilized, and other pods are selected", id="a relieved node"),
            pytest.param(
                {"node": "half"},
                {},
                "node half is not overutilized: CPU usage at 50% (targetThresholds.cpu: 80)",
                id="a node between",
            ),
            pytest.param({"node": "other"}, {}, "node other does not match nodeSelector", id="a node not selected"),
            pytest.param({}, {"nodeSelector": "pool=y"}, "no node matches nodeSelector", id="no node"),
            pytest.param({"phase": "Failed"}, {}, "the pod has finished", id="it has finished"),
            pytest.param({"phase": "Failed", "node": "other"}, {}, "the pod has finished", id="finished elsewhere"),
        ],
    )
    def test_why_not(self, facts: dict[str, Any], args: Object, why: str) -> None:
        asked_for = pod("p", **facts)

        assert ask("LoadAware", asked_for, args={**self.args, **args}).why_not(asked_for) == why

    @pytest.mark.parametrize(
        ("target", "evicted"),
        [pytest.param(89, 1, id="above it"), pytest.param(90, 0, id="at it"), pytest.param(91, 0, id="below it")],
    )
    def test_node_is_relieved_above_its_target(self, target: int, evicted: int) -> None:
        args = {**self.args, "targetThresholds": {"cpu": target}}

        assert len(ask("LoadAware", pod("p"), args=args).evicted) == evicted

    @pytest.mark.parametrize(("fits", "refused"), [(True, {}), (False, {"p": "NoNodeFits"})])
    def test_pods_that_fit_nowhere_else_stay_with_node_fit(self, fits: bool, refused: dict[str, str]) -> None:
        asked_for = pod("p", node_selector={} if fits else {"pool": "none"})

        asked = ask("LoadAware", asked_for, args={**self.args, "nodeFit": True})

        assert {each.pod.name: each.verdict.code for each in asked.decisions.refusals} == refused
        assert asked.evicted == ([] if refused else ["p"])

    def test_nodes_above_their_target_take_no_pods_with_node_fit(self) -> None:
        """Only the other overutilized node has the label that the pod asks for."""
        labels = {"kubernetes.io/hostname": "half"}

        asked = ask(
            "LoadAware", pod("p", node_selector=labels), used={**USED, "half": 9}, args={**self.args, "nodeFit": True}
        )

        assert asked.evicted == []


class TestRescheduling:
    """Tasks leave nodes above 80 % of their cores while others are below 30 %."""

    args: ClassVar[Object] = {
        "strategies": [
            {"name": "lowNodeUtilization", "params": {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 80}}}
        ]
    }

    @pytest.mark.parametrize(
        ("facts", "args", "why"),
        [
            pytest.param({}, {}, "node full is overutilized, and other pods are selected", id="a relieved node"),
            pytest.param(
                {"node": "half"},
                {},
                "node half is not overutilized: CPU usage at 50% (targetThresholds.cpu: 80)",
                id="a node between",
            ),
            pytest.param({"phase": "Failed"}, {}, "the pod has finished", id="it has finished"),
            pytest.param(
                {},
                {"strategies": [{"name": "other"}]},
                "strategies does not name lowNodeUtilization",
                id="another strategy",
            ),
        ],
    )
    def test_why_not(self, facts: dict[str, Any], args: Object, why: str) -> None:
        asked_for = pod("p", **facts)

        assert ask("Rescheduling", asked_for, args={**self.args, **args}).why_not(asked_for) == why

    @pytest.mark.parametrize(
        ("facts", "is_task"),
        [
            pytest.param({}, True, id="a running pod of a group"),
            pytest.param({"phase": "Pending"}, False, id="a pod that does not run yet"),
            pytest.param({"deleted": 5}, False, id="a pod that ends"),
            pytest.param({"annotations": {}}, False, id="a pod of no group"),
            pytest.param(
                {"annotations": {"scheduling.k8s.io/group-name": "gone"}}, False, id="a group that is not there"
            ),
        ],
    )
    def test_tasks_leave(self, facts: dict[str, Any], is_task: bool) -> None:
        asked_for = pod("p", **facts)

        asked = ask("Rescheduling", asked_for, args=self.args)

        assert asked.evicted == (["p"] if is_task else [])
        assert (asked.why_not(asked_for) == "not a running pod of a PodGroup of Volcano") is not is_task

    @pytest.mark.parametrize(
        ("node", "why"),
        [
            pytest.param("full", "CPU usage at 90% (targetThresholds.cpu: 80)", id="the same node as before"),
            pytest.param("half", "", id="a node that stays below its target"),
        ],
    )
    def test_replacement(self, node: str, why: str) -> None:
        asked_for = pod("p")

        assert ask("Rescheduling", asked_for, args=self.args).selects_again(asked_for, node) == why

    @pytest.mark.parametrize(
        ("used", "number", "evicted"),
        [
            pytest.param(9, 3, 2, id="until the node is below its target"),
            pytest.param(8, 3, 0, id="a node at its target stays"),
            pytest.param(10, 9, 3, id="three of ten"),
        ],
    )
    def test_node_is_relieved_until_it_is_below(self, used: int, number: int, evicted: int) -> None:
        pods = [pod(f"p{each}") for each in range(number)]

        asked = ask("Rescheduling", *pods, used={**USED, "full": used}, args=self.args)

        assert len(asked.evicted) == evicted

    @pytest.mark.parametrize("compatibility", ["fixed", "upstream"])
    def test_room_of_the_others_ends_it(self, compatibility: Compatibility) -> None:
        """Nodes of 10 cores at 10 % and at 0 % may be filled up to 20 %: that is room for three tasks."""
        params = {"thresholds": {"cpu": 11}, "targetThresholds": {"cpu": 20}}
        args = {"metricsPeriod": "10m", "strategies": [{"name": "lowNodeUtilization", "params": params}]}
        pods = [pod(f"p{each}") for each in range(5)]

        asked = ask("Rescheduling", *pods, args=args, compatibility=compatibility)

        assert asked.evicted == ["p0", "p1", "p2"]

    @pytest.mark.parametrize(
        ("cpu", "number"), [pytest.param("2", 5, id="below zero"), pytest.param("1", 3, id="at zero")]
    )
    def test_upstream_goes_on_where_room_falls_below_zero(self, cpu: str, number: int) -> None:
        """By requests: with tasks of two cores there is never exactly no room left, until the node is relieved."""
        params = {"thresholds": {"cpu": 11}, "targetThresholds": {"cpu": 20}}
        args = {"metricsPeriod": "10m", "strategies": [{"name": "lowNodeUtilization", "params": params}]}
        pods = [pod(f"p{each}", cpu=cpu) for each in range(9)]

        asked = ask("Rescheduling", *pods, used={**USED, "full": 10}, args=args, compatibility="upstream")

        assert len(asked.evicted) == number

    def test_replacement_that_fills_a_node_up_to_its_target(self) -> None:
        asked_for = pod("p")

        asked = ask("Rescheduling", asked_for, used={**USED, "half": 7}, args=self.args)

        assert asked.selects_again(asked_for, "half") == ""

    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["full", "half"], id="that of a node ends the node"),
            pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["full"], id="that of the run ends the plugin"),
        ],
    )
    def test_limits_of_the_run(self, policy: Object, expected: list[str]) -> None:
        pods = [*(pod(f"f{each}") for each in range(3)), *(pod(f"h{each}", "half") for each in range(3))]

        asked = ask("Rescheduling", *pods, used={"full": 10, "half": 9, "idle": 1}, args=self.args, policy=policy)

        assert [move.pod.node_name for move in asked.decisions.moves] == expected


PROMETHEUS = LoadMetrics("prometheus", "http://prometheus:9090")


@pytest.mark.parametrize("module", [load_aware, rescheduling])
def test_prometheus_is_asked_where_the_arguments_name_it(module: Any) -> None:
    make = LoadAwareArgs if module is load_aware else ReschedulingArgs

    assert len(module.samples(make(metrics=PROMETHEUS))) == 4
    assert module.samples_address(make(metrics=PROMETHEUS)) == "http://prometheus:9090"
    assert module.needs(make(metrics=PROMETHEUS)).kinds.isdisjoint(SERVER)
    for metrics in (None, LoadMetrics()):
        assert module.samples(make(metrics=metrics)) == ()
        assert module.samples_address(make(metrics=metrics)) == ""
        assert module.needs(make(metrics=metrics)).kinds >= SERVER


@pytest.mark.parametrize(
    ("metrics", "samples", "kinds"),
    [
        pytest.param(None, [], set(), id="requests"),
        pytest.param(MetricsUtilization(metrics_server=True), [], SERVER, id="the metrics server"),
        pytest.param(MetricsUtilization(source="KubernetesMetrics"), [], SERVER, id="the metrics server by name"),
        pytest.param(
            MetricsUtilization(source="Prometheus", prometheus=PrometheusQuery("q")), ["q"], set(), id="a query"
        ),
        pytest.param(MetricsUtilization(source="Prometheus"), [], set(), id="no query"),
        pytest.param(
            MetricsUtilization(source="KubernetesMetrics", prometheus=PrometheusQuery("q")), [], SERVER, id="not asked"
        ),
    ],
)
def test_low_node_utilization_reads_what_its_arguments_name(
    metrics: MetricsUtilization | None, samples: list[str], kinds: set[str]
) -> None:
    args = LowNodeUtilizationArgs(metrics_utilization=metrics)

    assert low_node_utilization.samples(args) == samples
    assert set(low_node_utilization.needs(args).kinds) == kinds


def test_rescheduling_goes_by_the_first_strategy_that_it_knows() -> None:
    other, known = ReschedulingStrategy("other"), ReschedulingStrategy("lowNodeUtilization")

    assert ReschedulingArgs(strategies=(other, known)).params is known.params
    assert ReschedulingArgs(strategies=(other,)).params is None
    assert ReschedulingArgs().params is not None
