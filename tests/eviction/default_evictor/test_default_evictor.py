"""DefaultEvictor: who may be evicted at all, and who may be evicted now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from descheduler.eviction.default_evictor.default_evictor import (
    DefaultEvictor,
    DefaultEvictorArgs,
    effective_protections,
)
from descheduler.model.objects import Namespace
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.model.volume_sources import PersistentVolumeClaim
from tests.builders import make_budget, make_node, make_pod, owner
from tests.eviction.handles import make_handle

EVICT = {"descheduler.alpha.kubernetes.io/evict": "false"}
PREFER_NO = {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}
MIRROR = {"kubernetes.io/config.mirror": "hash"}
LOCAL = [{"name": "scratch", "emptyDir": {"medium": "Memory"}}]


def make_args(**args: Any) -> DefaultEvictorArgs:
    """Arguments written in YAML spelling."""
    return msgspec.convert(args, DefaultEvictorArgs)


def reason_of(pod: Pod, args: DefaultEvictorArgs | None = None, **cluster: Any) -> Reason | None:
    """Why the filter keeps `pod`, alone in a cluster of the given other objects."""
    pods = [pod, *cluster.pop("pods", ())]
    return DefaultEvictor(args or make_args(), make_handle(pods=pods, **cluster)).filter(pod).reason


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, None, id="an ordinary pod may go"),
        pytest.param({"annotations": MIRROR}, Reason.MIRROR_POD, id="a mirror pod stays"),
        pytest.param(
            {"annotations": {"kubernetes.io/config.source": "file"}}, Reason.STATIC_POD, id="a static pod stays"
        ),
        pytest.param({"annotations": {"kubernetes.io/config.source": "api"}}, None, id="a pod from the API may go"),
        pytest.param({"deleted": 5}, Reason.TERMINATING, id="a pod that is being deleted stays"),
        pytest.param({"priority": 2_000_000_000}, Reason.SYSTEM_CRITICAL, id="a critical pod stays"),
        pytest.param({"priority": 1_999_999_999}, None, id="one below critical may go"),
        pytest.param({"owners": ()}, Reason.BARE_POD, id="a bare pod stays"),
        pytest.param({"owners": (), "phase": "Failed"}, Reason.BARE_POD, id="a failed bare pod stays, too"),
        pytest.param({"volumes": LOCAL}, Reason.LOCAL_STORAGE, id="a pod with local storage stays"),
        pytest.param({"owners": ["DaemonSet/agent"]}, Reason.DAEMON_SET, id="a DaemonSet's pod stays"),
        pytest.param({"claims": ["data"]}, None, id="claims protect only on request"),
        pytest.param({"annotations": PREFER_NO}, None, id="a preference to stay is no refusal"),
        pytest.param({"annotations": EVICT | MIRROR, "deleted": 5}, None, id="the evict annotation beats everything"),
        pytest.param({"phase": "Succeeded", "ready": False}, None, id="phase and readiness do not matter"),
    ],
)
def test_default_protections(facts: dict[str, Any], expected: Reason | None) -> None:
    assert reason_of(make_pod("p", **facts)) is expected


@pytest.mark.parametrize(
    ("args", "facts", "expected"),
    [
        pytest.param(
            {"noEvictionPolicy": "Mandatory"},
            {"annotations": PREFER_NO},
            Reason.NO_EVICTION_ANNOTATION,
            id="a mandatory wish is heard",
        ),
        pytest.param(
            {"noEvictionPolicy": "Mandatory"},
            {"annotations": PREFER_NO | EVICT},
            None,
            id="the evict annotation beats a mandatory wish",
        ),
        pytest.param(
            {"priorityThreshold": {"value": 100}},
            {"priority": 100},
            Reason.PRIORITY_THRESHOLD,
            id="a priority that reaches the threshold protects",
        ),
        pytest.param({"priorityThreshold": {"value": -5}}, {}, None, id="no priority is below every threshold"),
        pytest.param(
            {"priorityThreshold": {"value": 100}, "evictSystemCriticalPods": True},
            {"priority": 2_000_001_000},
            None,
            id="the threshold goes with the protection of critical pods",
        ),
        pytest.param(
            {"evictFailedBarePods": True}, {"owners": (), "phase": "Failed"}, None, id="failed bare pods on request"
        ),
        pytest.param({"evictFailedBarePods": True}, {"owners": ()}, Reason.BARE_POD, id="running bare pods never"),
        pytest.param({"evictLocalStoragePods": True}, {"volumes": LOCAL}, None, id="local storage on request"),
        pytest.param({"evictDaemonSetPods": True}, {"owners": ["DaemonSet/x"]}, None, id="DaemonSet pods on request"),
        pytest.param(
            {"ignorePvcPods": True}, {"claims": ["data"]}, Reason.PERSISTENT_VOLUME_CLAIM, id="claims can protect"
        ),
        pytest.param(
            {"podProtections": {"extraEnabled": ["PodsWithResourceClaims"]}},
            {"spec": {"resourceClaims": [{"name": "gpu"}]}},
            Reason.RESOURCE_CLAIMS,
            id="resource claims can protect",
        ),
        pytest.param(
            {"labelSelector": {"matchLabels": {"tier": "web"}}},
            {"labels": {"tier": "db"}},
            Reason.LABEL_SELECTOR,
            id="labels must match the selector",
        ),
        pytest.param({"labelSelector": {}}, {"labels": {"tier": "db"}}, None, id="an empty selector asks for nothing"),
        pytest.param({"minPodAge": 600}, {"started": 600}, None, id="the least age is enough"),
        pytest.param(
            {"minPodAge": 600}, {"started": 599, "age": 9999}, Reason.TOO_YOUNG, id="the start counts, not creation"
        ),
        pytest.param({"minPodAge": 0}, {"started": None}, Reason.TOO_YOUNG, id="a pod that never started has no age"),
        pytest.param({}, {"started": None}, None, id="without a least age nobody asks for the start"),
    ],
)
def test_arguments_change_who_is_protected(
    args: dict[str, Any], facts: dict[str, Any], expected: Reason | None
) -> None:
    if "minPodAge" in args:
        args = args | {"minPodAge": timedelta(seconds=args["minPodAge"])}

    assert reason_of(make_pod("p", **facts), make_args(**args)) is expected


def test_first_reason_in_order_is_told() -> None:
    pod = make_pod("p", owners=["DaemonSet/x"], volumes=LOCAL, priority=2_000_000_000, deleted=1)

    assert reason_of(pod) is Reason.TERMINATING


@pytest.mark.parametrize(
    ("storage_class", "expected"),
    [
        pytest.param("fast", Reason.PERSISTENT_VOLUME_CLAIM, id="a protected class protects"),
        pytest.param("slow", None, id="another class does not"),
        pytest.param("", Reason.PERSISTENT_VOLUME_CLAIM, id="an unknown class protects"),
        pytest.param(None, Reason.PERSISTENT_VOLUME_CLAIM, id="a missing claim protects"),
    ],
)
def test_claims_protect_by_storage_class(storage_class: str | None, expected: Reason | None) -> None:
    config = {"PodsWithPVC": {"protectedStorageClasses": [{"name": "fast"}]}}
    args = make_args(ignorePvcPods=True, podProtections={"config": config})
    key = ("default", "data")
    claims = {} if storage_class is None else {key: PersistentVolumeClaim(*key, storage_class)}

    assert reason_of(make_pod("p", claims=["data"]), args, claims=claims) is expected


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        pytest.param(make_budget("b", {"app": "x"}), None, id="a budget that covers the pod lets it go"),
        pytest.param(make_budget("b", {"app": "y"}), Reason.NO_DISRUPTION_BUDGET, id="one for other pods does not"),
        pytest.param(
            make_budget("b", {"app": "x"}, namespace="z"),
            Reason.NO_DISRUPTION_BUDGET,
            id="nor one of another namespace",
        ),
        pytest.param(
            make_budget("b", {"app": "x"}, selector_error="bad"), Reason.NO_DISRUPTION_BUDGET, id="nor a malformed one"
        ),
    ],
)
def test_pods_without_budget_can_be_protected(budget: Any, expected: Reason | None) -> None:
    pod = make_pod("p", labels={"app": "x"})

    assert reason_of(pod, make_args(ignorePodsWithoutPDB=True), budgets=(budget,)) is expected


@pytest.mark.parametrize(
    ("owners", "others", "expected"),
    [
        pytest.param(["ReplicaSet/web"], 1, Reason.TOO_FEW_REPLICAS, id="two replicas are fewer than three"),
        pytest.param(["ReplicaSet/web"], 2, None, id="three replicas are enough"),
        pytest.param(["ReplicaSet/web", "ReplicaSet/two"], 0, None, id="several owners are not looked at"),
    ],
)
def test_least_replicas_count_every_pod_of_the_owner(owners: list[str], others: int, expected: Reason | None) -> None:
    replicas = [make_pod(f"r{n}", node="", namespace="z", phase="Failed", deleted=1) for n in range(others)]

    assert reason_of(make_pod("p", owners=owners), make_args(minReplicas=3), pods=replicas) is expected


def test_pod_that_names_an_owner_twice_is_one_replica() -> None:
    twice = make_pod("r", owners=[owner("ReplicaSet/web"), owner("ReplicaSet/web")])

    assert reason_of(make_pod("p"), make_args(minReplicas=3), pods=[twice]) is Reason.TOO_FEW_REPLICAS


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param("DeschedulerPolicy", None, id="an evicted replica still counts for a DeschedulerPolicy"),
        pytest.param(
            "DeschedulerConfiguration", Reason.TOO_FEW_REPLICAS, id="and no longer for a DeschedulerConfiguration"
        ),
    ],
)
def test_booked_evictions_and_least_replicas(kind: Any, expected: Reason | None) -> None:
    first, second = make_pod("p"), make_pod("q")
    handle = make_handle([make_node("a")], [first, second], kind=kind)
    plugin = DefaultEvictor(make_args(minReplicas=2), handle)
    before = plugin.filter(second)

    handle.view.book_eviction(first)

    assert before.is_accepted
    assert plugin.filter(second).reason is expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(
            {}, ["PodsWithLocalStorage", "DaemonSetPods", "SystemCriticalPods", "FailedBarePods"], id="defaults"
        ),
        pytest.param(
            {"evictDaemonSetPods": True, "ignorePvcPods": True},
            ["PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "PodsWithPVC"],
            id="deprecated switches",
        ),
        pytest.param(
            {"podProtections": {"defaultDisabled": ["SystemCriticalPods"], "extraEnabled": ["PodsWithoutPDB"]}},
            ["PodsWithLocalStorage", "FailedBarePods", "DaemonSetPods", "PodsWithoutPDB"],
            id="named protections",
        ),
        pytest.param(
            {"podProtections": {"extraEnabled": ["PodsWithPVC"]}, "evictFailedBarePods": True},
            ["PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods", "PodsWithPVC"],
            id="named protections silence the deprecated switches",
        ),
    ],
)
def test_effective_protections(args: dict[str, Any], expected: list[str]) -> None:
    assert list(effective_protections(make_args(**args))) == expected


class TestPreEvictionFilter:
    """Whether a pod may be evicted now."""

    def reason(self, args: DefaultEvictorArgs, pod: Pod, **cluster: Any) -> Reason | None:
        """Why the pre-eviction filter keeps `pod`."""
        return DefaultEvictor(args, make_handle(pods=[pod], **cluster)).pre_eviction_filter(pod).reason

    def test_without_arguments_everything_may_go(self) -> None:
        assert self.reason(make_args(), make_pod("p"), nodes=[make_node("a")]) is None

    @pytest.mark.parametrize(
        ("other", "expected"),
        [
            pytest.param(make_node("b"), None, id="a roomy node fits"),
            pytest.param(make_node("b", cpu="1"), Reason.NO_NODE_FITS, id="a small one does not"),
            pytest.param(
                make_node("b", ready=False), Reason.NO_NODE_FITS, id="a node that is not ready does not count"
            ),
        ],
    )
    def test_node_fit_needs_another_ready_node(self, other: Any, expected: Reason | None) -> None:
        pod = make_pod("p", node="a", cpu="2", annotations=EVICT)

        assert self.reason(make_args(nodeFit=True), pod, nodes=[make_node("a"), other]) is expected

    @pytest.mark.parametrize(
        ("selector", "expected"),
        [
            pytest.param("pool=web", None, id="nodes that it selects count"),
            pytest.param("pool=db", Reason.NO_NODE_FITS, id="others do not"),
            pytest.param("pool in (", Reason.NO_NODE_FITS, id="a syntax error keeps every pod"),
        ],
    )
    def test_node_fit_looks_at_selected_nodes(self, selector: str, expected: Reason | None) -> None:
        nodes = [make_node("a"), make_node("b", labels={"pool": "web"})]

        assert self.reason(make_args(nodeFit=True, nodeSelector=selector), make_pod("p"), nodes=nodes) is expected

    @pytest.mark.parametrize(
        ("namespaces", "expected"),
        [
            pytest.param({"default": {"team": "a"}}, None, id="matching labels let pods go"),
            pytest.param({"default": {"team": "b"}}, Reason.NAMESPACE_LABELS, id="other labels do not"),
            pytest.param({}, Reason.NAMESPACE_LABELS, id="an unknown namespace does not"),
        ],
    )
    def test_labels_of_the_namespace_must_match(
        self, namespaces: dict[str, dict[str, str]], expected: Reason | None
    ) -> None:
        args = make_args(namespaceLabelSelector={"matchLabels": {"team": "a"}})
        known = {name: Namespace(name, labels) for name, labels in namespaces.items()}

        assert self.reason(args, make_pod("p"), namespaces=known) is expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param("DeschedulerPolicy", None, id="upstream drops it"),
        pytest.param("DeschedulerConfiguration", Reason.PRIORITY_THRESHOLD, id="our own kind keeps it"),
    ],
)
def test_own_priority_threshold_without_the_protection_of_critical_pods(kind: Any, expected: Reason | None) -> None:
    args = make_args(evictSystemCriticalPods=True, priorityThreshold={"value": 100})

    assert reason_of(make_pod("cart", priority=100), args, kind=kind) is expected
