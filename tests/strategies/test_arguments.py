"""What is said of arguments of plugins that make no sense or have no effect, by the path of the argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import LabelSelectorArg, Namespaces
from descheduler.strategies import (
    custom_priority,
    fragmentation_aware,
    load_aware,
    low_node_utilization,
    pod_life_time,
    remove_pods_having_too_many_restarts,
    remove_pods_violating_device_taints,
    remove_pods_violating_node_affinity,
    remove_pods_violating_node_taints,
    rescheduling,
    scale_down_bin_pack,
)
from descheduler.strategies.custom_priority import CustomPriorityArgs, ResourcePriority
from descheduler.strategies.fragmentation_aware import FragmentationAwareArgs
from descheduler.strategies.load_aware import LoadAwareArgs
from descheduler.strategies.low_node_utilization import LowNodeUtilizationArgs, MetricsUtilization, PrometheusQuery
from descheduler.strategies.pod_life_time import ConditionFilter, OwnerKinds, PodLifeTimeArgs
from descheduler.strategies.remove_failed_pods import RemoveFailedPodsArgs
from descheduler.strategies.remove_pods_having_too_many_restarts import RemovePodsHavingTooManyRestartsArgs
from descheduler.strategies.remove_pods_violating_device_taints import RemovePodsViolatingDeviceTaintsArgs
from descheduler.strategies.remove_pods_violating_node_affinity import RemovePodsViolatingNodeAffinityArgs
from descheduler.strategies.remove_pods_violating_node_taints import RemovePodsViolatingNodeTaintsArgs
from descheduler.strategies.rescheduling import ReschedulingArgs, ReschedulingParams, ReschedulingStrategy
from descheduler.strategies.revoke_pods_over_elastic_quota import revoke_pods_over_elastic_quota as quotas
from descheduler.strategies.scale_down_bin_pack import ScaleDownBinPackArgs

GOLD, SILVER = (ResourcePriority(name, LabelSelectorArg({"tier": name})) for name in ("gold", "silver"))
BROKEN = LabelSelectorArg({"app": "not valid!"})
QuotaArgs = quotas.RevokePodsOverElasticQuotaArgs
KUBERNETES, PROMETHEUS = "KubernetesMetrics", "Prometheus"
QUERY = PrometheusQuery("q")


def paths(problems: Sequence[ArgsProblem]) -> list[str]:
    return [".".join(map(str, problem.path)) for problem in problems]


def low_utilization(source: str, **facts: Any) -> LowNodeUtilizationArgs:
    metrics = MetricsUtilization(source=source, **facts)
    return LowNodeUtilizationArgs(None, {"cpu": 1}, {"cpu": 2}, metrics_utilization=metrics)


@pytest.mark.parametrize(
    ("check", "args", "fields"),
    [
        pytest.param(
            custom_priority.construction_problems,
            CustomPriorityArgs(eviction_order=(GOLD, SILVER)),
            [],
            id="two levels",
        ),
        pytest.param(
            custom_priority.construction_problems,
            CustomPriorityArgs(eviction_order=(GOLD,)),
            ["evictionOrder"],
            id="one level",
        ),
        pytest.param(
            custom_priority.construction_problems,
            CustomPriorityArgs(eviction_order=(GOLD, GOLD, ResourcePriority())),
            ["evictionOrder.1.name", "evictionOrder.2.name", "evictionOrder.2.nodeSelector"],
            id="levels alike, without a name, without nodes",
        ),
        pytest.param(
            custom_priority.warnings, CustomPriorityArgs(eviction_order=(GOLD,)), [], id="levels of valid selectors"
        ),
        pytest.param(
            custom_priority.warnings,
            CustomPriorityArgs(eviction_order=(GOLD, ResourcePriority("x", BROKEN)), mode="Other", auto_cordon=True),
            ["evictionOrder.1.nodeSelector", "mode", "autoCordon"],
            id="what Koordinator accepts without effect",
        ),
        pytest.param(custom_priority.warnings, CustomPriorityArgs(mode=""), [], id="no mode"),
        pytest.param(custom_priority.warnings, CustomPriorityArgs(mode="DrainNode"), [], id="a known mode"),
        pytest.param(
            fragmentation_aware.construction_problems,
            FragmentationAwareArgs(resources=("cpu", "memory", "cpu"), imbalance_threshold=-0.1),
            ["resources.2", "imbalanceThreshold"],
            id="a resource twice, and a threshold below 0",
        ),
        pytest.param(
            fragmentation_aware.construction_problems,
            FragmentationAwareArgs(imbalance_threshold=0, min_improvement_threshold=0),
            [],
            id="thresholds of 0",
        ),
        pytest.param(
            load_aware.validate_args,
            LoadAwareArgs({"cpu": 10}, {"cpu": 20}, node_selector="a=b"),
            [],
            id="measured resources",
        ),
        pytest.param(
            load_aware.validate_args,
            LoadAwareArgs({"gpu": 10}, {"gpu": 20}, node_selector="a in", duration="2"),
            ["thresholds.gpu", "nodeSelector", "duration"],
            id="a resource that is not measured, a broken selector and duration",
        ),
        pytest.param(low_node_utilization.validate_args, low_utilization(KUBERNETES), [], id="the metrics server"),
        pytest.param(
            low_node_utilization.validate_args,
            low_utilization(KUBERNETES, metrics_server=True, prometheus=QUERY),
            ["metricsUtilization.metricsServer", "metricsUtilization.prometheus"],
            id="the metrics server twice, and a query",
        ),
        pytest.param(
            low_node_utilization.validate_args,
            low_utilization("", metrics_server=True),
            [],
            id="the deprecated spelling",
        ),
        pytest.param(
            low_node_utilization.validate_args, low_utilization(PROMETHEUS, prometheus=QUERY), [], id="a query"
        ),
        pytest.param(
            low_node_utilization.validate_args,
            low_utilization(PROMETHEUS),
            ["metricsUtilization.prometheus.query"],
            id="no query",
        ),
        pytest.param(
            low_node_utilization.validate_args,
            low_utilization(PROMETHEUS, prometheus=PrometheusQuery()),
            ["metricsUtilization.prometheus.query"],
            id="an empty query",
        ),
        pytest.param(
            low_node_utilization.validate_args,
            LowNodeUtilizationArgs(thresholds={"cpu": 20}, target_thresholds={"cpu": 20}),
            [],
            id="a threshold at its target",
        ),
        pytest.param(
            low_node_utilization.validate_args,
            LowNodeUtilizationArgs(thresholds={"cpu": 21}, target_thresholds={"cpu": 20}),
            ["thresholds.cpu"],
            id="a threshold above its target",
        ),
        pytest.param(
            low_node_utilization.validate_args,
            LowNodeUtilizationArgs(
                thresholds={"cpu": 21}, target_thresholds={"cpu": 20}, use_deviation_thresholds=True
            ),
            [],
            id="distances need no order",
        ),
        pytest.param(
            low_node_utilization.validate_args,
            LowNodeUtilizationArgs(thresholds={"cpu": 21, "memory": 1}, target_thresholds={"cpu": 50}),
            ["targetThresholds"],
            id="a resource in one map alone",
        ),
        pytest.param(
            low_node_utilization.construction_problems, low_utilization(KUBERNETES), [], id="nothing of Prometheus"
        ),
        pytest.param(
            low_node_utilization.construction_problems,
            low_utilization(PROMETHEUS),
            ["thresholds", "targetThresholds"],
            id="no threshold that Prometheus measures",
        ),
        pytest.param(low_node_utilization.construction_problems, LowNodeUtilizationArgs(), [], id="requests"),
        pytest.param(pod_life_time.validate_args, PodLifeTimeArgs(), [""], id="no criterion"),
        pytest.param(pod_life_time.validate_args, PodLifeTimeArgs(max_pod_life_time_seconds=0), [], id="an age of 0"),
        pytest.param(pod_life_time.validate_args, PodLifeTimeArgs(states=("Running",)), [], id="a state"),
        pytest.param(pod_life_time.validate_args, PodLifeTimeArgs(exit_codes=(1,)), [], id="an exit code"),
        pytest.param(
            pod_life_time.validate_args,
            PodLifeTimeArgs(
                states=("Resting",), owner_kinds=OwnerKinds(("Job",), ("Job",)), conditions=(ConditionFilter(),)
            ),
            ["ownerKinds", "states.0", "conditions.0"],
            id="contradictory owners, an unknown state and an empty condition",
        ),
        pytest.param(
            pod_life_time.validate_args,
            PodLifeTimeArgs(owner_kinds=OwnerKinds(("Job",)), conditions=(ConditionFilter("Ready"),)),
            [],
            id="a condition and owners",
        ),
        pytest.param(
            remove_pods_having_too_many_restarts.validate_args,
            RemovePodsHavingTooManyRestartsArgs(),
            ["podRestartThreshold"],
            id="no restarts",
        ),
        pytest.param(
            remove_pods_having_too_many_restarts.validate_args,
            RemovePodsHavingTooManyRestartsArgs(pod_restart_threshold=1, states=("Running", "Failed")),
            ["states.1"],
            id="one restart, and an unknown state",
        ),
        pytest.param(
            remove_pods_violating_node_affinity.validate_args,
            RemovePodsViolatingNodeAffinityArgs(),
            ["nodeAffinityType"],
            id="no kind of affinity",
        ),
        pytest.param(
            remove_pods_violating_node_taints.validate_args,
            RemovePodsViolatingNodeTaintsArgs(included_taints=("a",), excluded_taints=("b",)),
            ["includedTaints"],
            id="taints included and excluded",
        ),
        pytest.param(
            remove_pods_violating_node_taints.validate_args,
            RemovePodsViolatingNodeTaintsArgs(excluded_taints=("b",)),
            [],
            id="taints excluded",
        ),
        pytest.param(
            remove_pods_violating_node_taints.validate_args,
            RemovePodsViolatingNodeTaintsArgs(included_taints=("b",)),
            [],
            id="taints included",
        ),
        pytest.param(
            remove_pods_violating_device_taints.validate_args,
            RemovePodsViolatingDeviceTaintsArgs(effects=("NoExecute",), grace_period=timedelta(0)),
            [],
            id="no grace",
        ),
        pytest.param(
            remove_pods_violating_device_taints.validate_args,
            RemovePodsViolatingDeviceTaintsArgs(effects=("NoSchedule", "Other"), grace_period=timedelta(seconds=-1)),
            ["effects.1", "gracePeriod", "gracePeriod"],
            id="an unknown effect, and a grace below 0 that has no effect",
        ),
        pytest.param(
            RemoveFailedPodsArgs.filter_problems,
            RemoveFailedPodsArgs(namespaces=Namespaces(("a",), ("b",))),
            ["namespaces"],
            id="namespaces included and excluded",
        ),
        pytest.param(
            rescheduling.validate_args,
            ReschedulingArgs(
                strategies=(
                    ReschedulingStrategy("lowNodeUtilization", ReschedulingParams({}, {})),
                    ReschedulingStrategy("lowNodeUtilization", ReschedulingParams({"cpu": 101}, {"memory": -1})),
                )
            ),
            ["strategies.1.params.thresholds.cpu", "strategies.1.params.targetThresholds.memory"],
            id="shares that are none",
        ),
        pytest.param(rescheduling.warnings, ReschedulingArgs(), [], id="no strategy is lowNodeUtilization"),
        pytest.param(
            rescheduling.warnings,
            ReschedulingArgs(
                strategies=(
                    ReschedulingStrategy("other", ReschedulingParams({"cpu": 1}, {"memory": 2})),
                    ReschedulingStrategy("lowNodeUtilization", ReschedulingParams({"pods": 1}, {"gpu": 2, "pods": 3})),
                )
            ),
            [
                "strategies.0.name",
                "strategies.1.params.targetThresholds.gpu",
                "strategies.1.params.thresholds.pods",
            ],
            id="another strategy, and resources that are not measured",
        ),
        pytest.param(scale_down_bin_pack.construction_problems, ScaleDownBinPackArgs(), [], id="ranks alone"),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(strategy="Other"),
            ["strategy"],
            id="an unknown one",
        ),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(strategy="EvictDirectly"),
            ["maxPodsToEvict"],
            id="no limit",
        ),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(strategy="EvictDirectly", max_pods_to_evict=0),
            ["maxPodsToEvict"],
            id="a limit of 0",
        ),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(strategy="EvictDirectly", max_pods_to_evict=1),
            [],
            id="a limit",
        ),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(strategy="EvictDirectly", max_pods_to_evict="10%"),
            [],
            id="a limit in percent",
        ),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(strategy="EvictDirectly", max_pods_to_evict="ten"),
            ["maxPodsToEvict"],
            id="a limit that is no number",
        ),
        pytest.param(
            scale_down_bin_pack.construction_problems,
            ScaleDownBinPackArgs(
                resource_weights={"cpu": 0.5, "a": 0.0, "b": -1.0, "c": float("inf"), "d": float("nan")}
            ),
            ["resourceWeights.a", "resourceWeights.b", "resourceWeights.c", "resourceWeights.d"],
            id="weights that are not above 0",
        ),
        pytest.param(scale_down_bin_pack.warnings, ScaleDownBinPackArgs(), ["strategy"], id="ranks have no effect"),
        pytest.param(scale_down_bin_pack.warnings, ScaleDownBinPackArgs(paused=True), [], id="a plugin that is paused"),
        pytest.param(scale_down_bin_pack.warnings, ScaleDownBinPackArgs(strategy="EvictDirectly"), [], id="evictions"),
        pytest.param(quotas.validate_args, QuotaArgs("0s"), [], id="no delay"),
        pytest.param(quotas.validate_args, QuotaArgs("-1s"), ["delayEvictTime"], id="a delay below 0"),
        pytest.param(
            quotas.validate_args,
            QuotaArgs("soon", feature_gates={"Unknown": True}),
            ["delayEvictTime", "featureGates"],
            id="no delay that can be read, and an unknown gate",
        ),
    ],
)
def test_problems_of_arguments(check: Callable[[Any], Sequence[ArgsProblem]], args: object, fields: list[str]) -> None:
    assert paths(check(args)) == fields
