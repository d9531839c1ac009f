"""What a scheduler checks that is not modelled, and which pods it concerns."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduler_model import DoubtOf
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot


def doubts(pod: Pod, *, plugins: Any = None, extenders: Any = ()) -> tuple[str, str, str, str]:
    """About the landing of `pod`, the choice of its node, its order and preemption, under such a configuration."""
    configuration = load_scheduler_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins or {}}],
            **({"extenders": list(extenders)} if extenders else {}),
        },
        plugins=PLUGINS,
    )
    cluster = ShadowCluster(make_snapshot([make_node("a")]))
    scheduler = Scheduler(cluster, configuration.profiles[0], plugins=PLUGINS, configuration=configuration)
    landing, choice, order, preemption = (scheduler.doubt(pod, about) for about in DoubtOf)
    return landing, choice, order, preemption


PLAIN = make_pod("pod", node="")


def enabled(point: str, *names: str) -> dict[str, Any]:
    return {point: {"enabled": [{"name": name} for name in names]}}


def not_modelled(*names: str) -> str:
    who = f"plugin {names[0]} is" if len(names) == 1 else f"plugins {', '.join(names)} are"
    return f"scheduler {who} not modelled"


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        pytest.param({}, ("", "", "", ""), id="kube-scheduler as it comes"),
        pytest.param(enabled("filter", "Mine"), (not_modelled("Mine"), "", "", ""), id="a filter"),
        pytest.param(enabled("filter", "Mine", "Yours"), (not_modelled("Mine", "Yours"), "", "", ""), id="two filters"),
        pytest.param(enabled("score", "Mine"), ("", not_modelled("Mine"), "", ""), id="a score"),
        pytest.param(enabled("postFilter", "Mine"), ("", "", "", not_modelled("Mine")), id="a preempting plugin"),
    ],
)
def test_plugin_that_is_not_modelled_is_in_doubt_at_what_it_decides(
    plugins: Any, expected: tuple[str, str, str, str]
) -> None:
    assert doubts(PLAIN, plugins=plugins) == expected


def extender(*verbs: str, **more: Any) -> dict[str, Any]:
    return {"urlPrefix": "http://x", **{f"{verb}Verb": verb for verb in verbs}, "weight": 1, **more}


UNCALLED = "scheduler extender http://x is not called"
GPUS = [{"name": "example.com/gpu"}]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(extender("filter"), (UNCALLED, "", "", UNCALLED), id="it filters"),
        pytest.param(extender("prioritize"), ("", UNCALLED, "", ""), id="it scores"),
        pytest.param(extender("preempt"), ("", "", "", UNCALLED), id="it preempts"),
        pytest.param(extender("filter", managedResources=GPUS), ("", "", "", ""), id="other pods"),
    ],
)
def test_extender_is_not_called_for_what_it_decides(given: Any, expected: tuple[str, str, str, str]) -> None:
    assert doubts(PLAIN, extenders=[given]) == expected


def test_extender_of_a_resource_is_asked_about_pods_that_request_it() -> None:
    pod = make_pod("pod", node="", requests={"example.com/gpu": "1"})

    assert doubts(pod, extenders=[extender("filter", managedResources=GPUS)])[0] == UNCALLED


def unchecked(words: str, plugin: str) -> str:
    return f"scheduler default-scheduler does not check {words} ({plugin})"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, "", id="a plain pod"),
        pytest.param(
            {"requests": {"koordinator.sh/gpu-core": "50"}},
            unchecked("koordinator.sh/gpu resources", "DeviceShare"),
            id="a part of a GPU",
        ),
        pytest.param(
            {"requests": {"koordinator.sh/rdma": "50"}},
            unchecked("koordinator.sh/rdma resources", "DeviceShare"),
            id="RDMA",
        ),
        pytest.param(
            {"requests": {"koordinator.sh/gpu.shared": "1"}},
            unchecked("koordinator.sh/gpu resources", "DeviceShare"),
            id="a shared GPU",
        ),
        pytest.param({"requests": {"example.com/gpu": "1"}}, "", id="a resource of another domain"),
        pytest.param(
            {"labels": {"quota.scheduling.koordinator.sh/name": "q"}},
            unchecked("elastic quotas", "ElasticQuota"),
            id="a quota",
        ),
        pytest.param(
            {"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}}, unchecked("gangs", "Coscheduling"), id="a gang"
        ),
        pytest.param(
            {"labels": {"koordinator.sh/qosClass": "LSR"}},
            unchecked("CPU topology requests", "NodeNUMAResource"),
            id="CPUs of its own",
        ),
        pytest.param({"labels": {"koordinator.sh/qosClass": "LS"}}, "", id="a class without CPUs of its own"),
        pytest.param(
            {"labels": {"scheduling.x-k8s.io/pod-group": "g"}},
            "pod groups of scheduler-plugins are not modelled (Coscheduling)",
            id="a gang of scheduler-plugins",
        ),
        pytest.param(
            {"spec": {"schedulingGroup": {"podGroupName": "g"}}},
            "scheduling groups are not modelled (GangScheduling)",
            id="a scheduling group",
        ),
    ],
)
def test_what_kube_scheduler_does_not_check_of_a_pod_is_told(facts: Any, expected: str) -> None:
    assert doubts(make_pod("pod", node="", **facts))[0] == expected


def test_plugin_that_is_not_modelled_comes_before_what_a_pod_uses() -> None:
    pod = make_pod("pod", node="", labels={"koordinator.sh/qosClass": "LSR"})

    assert doubts(pod, plugins=enabled("filter", "Mine"))[0] == not_modelled("Mine")
