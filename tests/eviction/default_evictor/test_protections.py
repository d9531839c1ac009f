"""Protections of DefaultEvictor at their bounds, each asked about one pod."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.eviction.default_evictor.default_evictor import (
    DefaultEvictor,
    DefaultEvictorArgs,
    construction_problems,
    needs,
    validate_args,
)
from descheduler.model.objects import Namespace
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.model.volume_sources import PersistentVolumeClaim
from tests.builders import make_node, make_pod
from tests.eviction.handles import make_handle

CRITICAL = 2_000_000_000
STAYING = {"karpenter.sh/do-not-disrupt": "true"}
OPEN = {"podProtections": {"defaultDisabled": ["SystemCriticalPods"]}}


def args_of(**args: Any) -> DefaultEvictorArgs:
    return msgspec.convert(args, DefaultEvictorArgs)


def reason_of(
    pod: Pod, *, kind: Any = "DeschedulerPolicy", cluster: dict[str, Any] | None = None, **args: Any
) -> Reason | None:
    """Why the filter keeps a pod that is not among those of the cluster."""
    return DefaultEvictor(args_of(**args), make_handle(kind=kind, **(cluster or {}))).filter(pod).reason


@pytest.mark.parametrize(
    ("kind", "threshold", "priority", "reason"),
    [
        ("DeschedulerConfiguration", 100, 99, None),
        ("DeschedulerConfiguration", 100, 100, Reason.PRIORITY_THRESHOLD),
        ("DeschedulerConfiguration", 100, CRITICAL, Reason.PRIORITY_THRESHOLD),
        ("DeschedulerConfiguration", CRITICAL, CRITICAL, None),
        ("DeschedulerConfiguration", CRITICAL - 1, CRITICAL, Reason.PRIORITY_THRESHOLD),
        ("DeschedulerConfiguration", None, CRITICAL, None),
        ("DeschedulerPolicy", 100, 100, None),
    ],
)
def test_own_threshold_outlasts_the_protection_of_critical_pods_in_a_configuration(
    kind: str, threshold: int | None, priority: int, reason: Reason | None
) -> None:
    given = OPEN if threshold is None else {**OPEN, "priorityThreshold": {"value": threshold}}

    assert reason_of(make_pod("p", priority=priority), kind=kind, **given) is reason


@pytest.mark.parametrize(
    ("facts", "args", "reason"),
    [
        ({"annotations": STAYING}, {}, None),
        (
            {"annotations": STAYING},
            {"podProtections": {"extraEnabled": ["PodsWithDoNotDisrupt"]}},
            Reason.DO_NOT_DISRUPT,
        ),
        ({"annotations": STAYING}, {"podProtections": {"extraEnabled": ["PodsWithPVC"]}}, None),
        ({}, {"podProtections": {"extraEnabled": ["PodsWithDoNotDisrupt"]}}, None),
        ({"claims": ["data"]}, {"podProtections": {"extraEnabled": ["PodsWithPVC"]}}, Reason.PERSISTENT_VOLUME_CLAIM),
        ({"claims": ["data"]}, {}, None),
        ({"priority": 5}, {"priorityThreshold": {"value": 5}}, Reason.PRIORITY_THRESHOLD),
        ({"priority": 4}, {"priorityThreshold": {"value": 5}}, None),
        ({}, {"priorityThreshold": {"value": -5}}, None),
        ({"priority": 0}, {"priorityThreshold": {"value": 0}}, Reason.PRIORITY_THRESHOLD),
        ({"started": 60}, {"minPodAge": timedelta(seconds=60)}, None),
        ({"started": 59}, {"minPodAge": timedelta(seconds=60)}, Reason.TOO_YOUNG),
        ({"started": None}, {"minPodAge": timedelta(seconds=60)}, Reason.TOO_YOUNG),
        ({"started": None}, {}, None),
        ({"labels": {"a": "b"}}, {"labelSelector": {"matchLabels": {"a": "b"}}}, None),
        ({"labels": {"a": "c"}}, {"labelSelector": {"matchLabels": {"a": "b"}}}, Reason.LABEL_SELECTOR),
        ({}, {"labelSelector": {}}, None),
    ],
)
def test_filter_keeps_what_an_argument_protects(
    facts: dict[str, Any], args: dict[str, Any], reason: Reason | None
) -> None:
    assert reason_of(make_pod("p", **facts), **args) is reason


@pytest.mark.parametrize(
    ("least", "others", "reason"),
    [(1, 0, None), (2, 2, None), (2, 1, Reason.TOO_FEW_REPLICAS), (3, 2, Reason.TOO_FEW_REPLICAS)],
)
def test_least_number_of_replicas_counts_from_2_on(least: int, others: int, reason: Reason | None) -> None:
    pods = [make_pod(f"other-{number}") for number in range(others)]

    assert reason_of(make_pod("p"), minReplicas=least, cluster={"pods": pods}) is reason


CLASSES = {
    "podProtections": {
        "extraEnabled": ["PodsWithPVC"],
        "config": {"PodsWithPVC": {"protectedStorageClasses": [{"name": "local"}]}},
    }
}


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"data": "local"}, Reason.PERSISTENT_VOLUME_CLAIM),
        ({"data": "remote"}, None),
        ({"data": ""}, Reason.PERSISTENT_VOLUME_CLAIM),
        ({}, Reason.PERSISTENT_VOLUME_CLAIM),
        ({"data": "remote", "more": "local"}, Reason.PERSISTENT_VOLUME_CLAIM),
    ],
)
def test_claims_protect_by_their_storage_class(claims: dict[str, str], reason: Reason | None) -> None:
    known = {("default", name): PersistentVolumeClaim("default", name, text) for name, text in claims.items()}
    pod = make_pod("p", claims=list(claims) or ["data"])

    assert reason_of(pod, cluster={"claims": known}, **CLASSES) is reason


@pytest.mark.parametrize(
    ("namespace", "args", "reason"),
    [
        (Namespace("default", {"team": "a"}), {"namespaceLabelSelector": {"matchLabels": {"team": "a"}}}, None),
        (
            Namespace("default", {"team": "b"}),
            {"namespaceLabelSelector": {"matchLabels": {"team": "a"}}},
            Reason.NAMESPACE_LABELS,
        ),
        (None, {"namespaceLabelSelector": {"matchLabels": {"team": "a"}}}, Reason.NAMESPACE_LABELS),
        (None, {"namespaceLabelSelector": {}}, None),
        (None, {}, None),
        (None, {"nodeFit": True}, Reason.NO_NODE_FITS),
    ],
)
def test_pre_eviction_filter_looks_at_namespaces_and_nodes(
    namespace: Namespace | None, args: dict[str, Any], reason: Reason | None
) -> None:
    cluster: dict[str, Any] = {} if namespace is None else {"namespaces": {namespace.name: namespace}}
    handle = make_handle([make_node("a")], [make_pod("p")], **cluster)

    assert DefaultEvictor(args_of(**args), handle).pre_eviction_filter(make_pod("p")).reason is reason


@pytest.mark.parametrize(
    ("args", "kinds"),
    [
        ({}, set()),
        ({"namespaceLabelSelector": {}}, {"Namespace"}),
        ({"podProtections": {"extraEnabled": ["PodsWithPVC"]}}, set()),
        ({"podProtections": {"config": {}}}, set()),
        ({"podProtections": {"config": {"PodsWithPVC": {}}}}, set()),
        (CLASSES, {"PersistentVolumeClaim"}),
    ],
)
def test_kinds_are_read_that_the_arguments_look_at(args: dict[str, Any], kinds: set[str]) -> None:
    assert needs(args_of(**args)).kinds == kinds


BAD_SELECTOR = {"matchExpressions": [{"key": "a", "operator": "Like"}]}


@pytest.mark.parametrize(
    ("args", "fields"),
    [
        ({}, []),
        ({"priorityThreshold": {"value": 0, "name": "x"}}, ["priorityThreshold"]),
        ({"priorityThreshold": {"value": 0}}, []),
        ({"priorityThreshold": {"name": "x"}}, []),
        ({"noEvictionPolicy": "Mandatory"}, []),
        ({"noEvictionPolicy": "Never"}, ["noEvictionPolicy"]),
        ({"podProtections": {"extraEnabled": ["PodsWithPVC"]}, "ignorePvcPods": True}, ["podProtections"]),
        ({"podProtections": {"defaultDisabled": ["DaemonSetPods"]}, "evictDaemonSetPods": True}, ["podProtections"]),
        ({"podProtections": {}, "evictDaemonSetPods": True}, []),
        ({"podProtections": {"extraEnabled": ["X"]}}, ["podProtections.extraEnabled[0]"]),
        ({"podProtections": {"defaultDisabled": ["DaemonSetPods"] * 2}}, ["podProtections.defaultDisabled[1]"]),
        (
            {
                "podProtections": {
                    "extraEnabled": ["PodsWithPVC"],
                    "config": {"PodsWithPVC": {"protectedStorageClasses": [{"name": "a"}, {}]}},
                }
            },
            ["podProtections.config.PodsWithPVC.protectedStorageClasses[1].name"],
        ),
        (
            {
                "podProtections": {
                    "extraEnabled": ["PodsWithoutPDB"],
                    "config": {"PodsWithPVC": {"protectedStorageClasses": [{}]}},
                }
            },
            [],
        ),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(args: dict[str, Any], fields: list[str]) -> None:
    assert [problem.field for problem in validate_args(args_of(**args))] == fields


def test_selectors_that_do_not_compile_keep_the_plugin_from_being_built() -> None:
    args = args_of(labelSelector=BAD_SELECTOR, namespaceLabelSelector=BAD_SELECTOR)

    assert [problem.field for problem in construction_problems(args)] == ["labelSelector", "namespaceLabelSelector"]
    assert construction_problems(args_of()) == []
