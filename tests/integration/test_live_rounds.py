"""After a refusal the run decides again, and no node or limit pays twice for what was evicted before."""

from __future__ import annotations

from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import EvictThenDrop, budget_refusal, failure
from tests.integration.live_runs import asked_for, balancing, codes, run, serve

HALF_FULL = "thresholds: {cpu: 20}, targetThresholds: {cpu: 50}"
ONE_PER_NAMESPACE = "maxNoOfPodsToEvictPerNamespace: 1"


def overused_nodes(*, n2_stays: str = "100m") -> list[Object]:
    """n1 with pod b of namespace shared; n2 with x of the same namespace, and y, which is asked for after x.

    Each has a pod beside them that nobody evicts; that of n2 requests `n2_stays` of its CPU.
    """
    return [
        *(node_object(name) for name in ("n1", "n2", "free")),
        pod_object("stays-on-n1", node="n1", cpu="3400m", owners=()),
        pod_object("stays-on-n2", node="n2", cpu=n2_stays, owners=()),
        pod_object("b", namespace="shared", node="n1", cpu="500m"),
        pod_object("x", namespace="shared", node="n2", cpu="1"),
        pod_object("y", namespace="other", node="n2", cpu="1", priority=5),
    ]


def test_node_limit_of_the_plugin_holds_over_all_rounds(fake_api: FakeApi, client: KubeClient) -> None:
    """b takes the namespace's only eviction, so y goes; when b is refused, x is free to go, but n2 has lost its one."""
    serve(fake_api, *overused_nodes(n2_stays="1800m"))
    fake_api.on_eviction("b", budget_refusal("b"), namespace="shared")

    result = run(client, balancing(f"{{{HALF_FULL}, evictionLimits: {{node: 1}}}}", ONE_PER_NAMESPACE))

    assert codes(result) == {"b": OutcomeCode.BUDGET, "y": OutcomeCode.DONE}
    assert asked_for(fake_api) == ["b", "y"]


def test_share_of_the_pods_holds_over_all_rounds(fake_api: FakeApi, client: KubeClient) -> None:
    """20% of the five pods are one: when b is refused, one of the others goes, and no more."""
    serve(fake_api, *overused_nodes(n2_stays="1800m"))
    fake_api.on_eviction("b", budget_refusal("b"), namespace="shared")

    result = run(client, balancing(f"{{{HALF_FULL}}}", "maxNoOfPodsToEvictTotal: 20%"))

    assert list(codes(result).values()) == [OutcomeCode.BUDGET, OutcomeCode.DONE]
    assert len(asked_for(fake_api)) == 2


def test_node_that_was_relieved_to_its_target_gives_no_more(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *overused_nodes())
    fake_api.on_eviction("b", budget_refusal("b"), namespace="shared")

    run(client, balancing(f"{{{HALF_FULL}}}", ONE_PER_NAMESPACE))

    assert asked_for(fake_api) == ["b", "y"]


def test_pod_that_may_have_left_relieves_its_node(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *overused_nodes())
    fake_api.on_eviction("b", budget_refusal("b"), namespace="shared")
    fake_api.on_eviction("y", EvictThenDrop(), namespace="other")
    fake_api.fail_always("GET", "/api/v1/namespaces/other/pods/y", failure(503, "ServiceUnavailable", "down"))

    result = run(client, balancing(f"{{{HALF_FULL}}}", ONE_PER_NAMESPACE))

    assert codes(result) == {"b": OutcomeCode.BUDGET, "y": OutcomeCode.OUTCOME_UNKNOWN}
    assert asked_for(fake_api) == ["b", "y"]
