"""The pace of a live run: what was asked for, and no more than the API server takes."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from descheduler.cycle.options import RunOptions
from descheduler.plan.outcome import OutcomeCode
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, condition, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.program import policy
from tests.e2e.witness import Exchange, Witness, watched_run

POLICY = policy("RemovePodsViolatingNodeTaints")
MOVER = "mover"
LEVEL = "one-eviction"
FLOW_CONTROL = "flowcontrol.apiserver.k8s.io/v1"


def test_hundreds_of_pods_go_each_by_one_call_when_a_fast_pace_is_asked_for(cluster: Cluster) -> None:
    run_on_tainted_node(cluster, replicas=200)
    witness = Witness(cluster.kubeconfig)

    with cluster.asleep():  # or the replacements compete for the machine
        result = watched_run(witness, POLICY, RunOptions(qps=300.0, burst=20))

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE] * 200
    assert len(witness.evictions()) == 200


def test_no_more_pods_a_second_go_than_are_asked_for(cluster: Cluster) -> None:
    run_on_tainted_node(cluster, replicas=30)
    witness = Witness(cluster.kubeconfig)

    watched_run(witness, POLICY, RunOptions(qps=20.0, burst=10))

    sent_at = [exchange.sent_at for exchange in witness.evictions()]
    assert len(sent_at) == 30
    # Ten at once and the others at their pace; a little less, since a thread may note the time late.
    assert sent_at[-1] - sent_at[0] >= 20 / 20.0 * 0.9


def test_api_server_that_turns_evictions_away_is_given_the_time_it_asks_for(cluster: Cluster) -> None:
    """Its priority and fairness has a single seat for them, and tells the others when to come back."""
    run_on_tainted_node(cluster, replicas=30)
    add_account(cluster)
    for obj in single_seat(cluster):
        cluster.create(obj)
    wait_until("the seat is there", lambda: is_seat_in_use(cluster))
    witness = Witness(cluster.plane.kubeconfig_as(cluster.namespace, MOVER))

    with cluster.asleep():
        result = watched_run(witness, POLICY, RunOptions(qps=50.0, burst=30))

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE] * 30
    assert any(exchange.status_code == 429 for exchange in witness.evictions())
    for attempts in by_pod(witness).values():
        for refused, repeated in pairwise(attempts):
            assert refused.status_code == 429
            assert repeated.sent_at - refused.sent_at >= float(refused.headers["retry-after"]) > 0


def run_on_tainted_node(cluster: Cluster, *, replicas: int) -> None:
    """Pods that all run on node a, which no longer wants them; node b is free."""
    cluster.add_nodes(node("a", cpu="64", memory="64Gi", pods=500))
    cluster.run(deployment("web", cluster.namespace, replicas=replicas))
    cluster.add_nodes(node("b", cpu="64", memory="64Gi", pods=500))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})


def by_pod(witness: Witness) -> dict[str, list[Exchange]]:
    """Path → the evictions of that pod, in order."""
    found = defaultdict(list)
    for exchange in witness.evictions():
        found[exchange.path].append(exchange)
    return found


def add_account(cluster: Cluster) -> None:
    """A service account that may do everything, and yet is not exempt from flow control, as the administrator is."""
    meta = {"name": MOVER, "namespace": cluster.namespace}
    cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    cluster.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": MOVER},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", **meta}],
        }
    )


def single_seat(cluster: Cluster) -> list[Object]:
    """A priority level with no share of the seats, which still lets one request in, for the account's evictions."""
    limited = {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}
    account = {"kind": "ServiceAccount", "serviceAccount": {"namespace": cluster.namespace, "name": MOVER}}
    evictions = {"verbs": ["create"], "apiGroups": [""], "resources": ["pods/eviction"], "namespaces": ["*"]}
    return [
        {
            "apiVersion": FLOW_CONTROL,
            "kind": "PriorityLevelConfiguration",
            "metadata": {"name": LEVEL},
            "spec": {"type": "Limited", "limited": limited},
        },
        {
            "apiVersion": FLOW_CONTROL,
            "kind": "FlowSchema",
            "metadata": {"name": LEVEL},
            "spec": {
                "priorityLevelConfiguration": {"name": LEVEL},
                "matchingPrecedence": 100,
                "rules": [{"subjects": [account], "resourceRules": [evictions]}],
            },
        },
    ]


def is_seat_in_use(cluster: Cluster) -> bool:
    """Whether flow control has seen the level and the schema, and joined them."""
    schema = cluster.api.get(single_seat(cluster)[1])
    return condition(schema, "Dangling") == "False"
