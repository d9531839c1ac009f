"""Nodes that a live run cordons before it drains them, in the living cluster: which of them stay cordoned."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from msgspec.structs import replace

from descheduler.cycle.options import RunOptions, RunResult
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.model.node import CORDON_ANNOTATION
from descheduler.transport.errors import ExchangeError
from tests.cronjob.manifests import COMPONENTS, documents
from tests.cronjob.rbac import CORDONS, EVICT, LIST_ALL, grants_of, requested
from tests.faults.faults import Act, Delivery, Fault
from tests.faults.rooms.kinds import OWNER
from tests.integration.fake_api import Request
from tests.integration.live_runs import FAST, run
from tests.living.api.server import Call
from tests.living.builders import budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Killed, Kind
from tests.living.observing.observer import Observer
from tests.living.transport import Passage
from tests.migration.stand_ins import Clock
from tests.policy.builders import upstream

OLD = {"image": "old"}
"""As the Lease of the policy is named by default."""


class ClusterClock(Clock):
    """The clock of a living cluster as a run takes it."""

    def __init__(self, cluster: LivingCluster) -> None:
        super().__init__()
        self._clock = cluster.clock

    def now(self) -> float:
        """The cluster's time in seconds."""
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        """Lets the cluster live on."""
        self._clock.sleep(seconds)


def policy(cordon: str = "true") -> str:
    return upstream(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig:\n"
        "  - {name: DefaultEvictor, args: {nodeFit: false}}\n"
        "  - name: MigrationPlanner\n"
        "    args:\n"
        f"      objectives: [{{drainNodes: {{nodeSelector: {{matchLabels: {{image: old}}}}, cordon: {cordon}}}}}]\n"
        "      workLimit: 1\n"
        "  - {name: PlacementVerification}\n"
        "  plugins:\n"
        "    balance: {enabled: [MigrationPlanner]}\n"
        "    preevictionfilter: {enabled: [PlacementVerification]}\n"
    )


def world() -> LivingCluster:
    """Node n1 can be drained; n2 cannot, because of a budget. Without cordons pods of n1 would come to n2."""
    nodes = [node("n1", labels=OLD), node("n2", labels=OLD), node("n3"), node("n4")]
    workloads = [
        deployment("web", 2, on=["n1", "n1"], cpu="500m"),
        deployment("db", 1, on=["n2"], cpu="500m"),
        deployment("busy", 2, on=["n3", "n4"], cpu="2"),
    ]
    return living_cluster(nodes, workloads, [budget("db", maxUnavailable=0)])


def drain(cluster: LivingCluster, passage: Passage | None = None, options: RunOptions = FAST) -> RunResult:
    result = run(cluster.client(passage=passage), policy(), options=options, clock=ClusterClock(cluster))
    cluster.clock.sleep(60)
    return result


def cordoned(cluster: LivingCluster) -> dict[str, str]:
    """Cordoned node → who is said to have cordoned it."""
    return {
        found["metadata"]["name"]: (found["metadata"].get("annotations") or {}).get(CORDON_ANNOTATION, "")
        for found in cluster.all("nodes")
        if found["spec"].get("unschedulable")
    }


def set_by_user(cluster: LivingCluster, name: str, *, is_cordoned: bool) -> None:
    """As `kubectl cordon` and `kubectl uncordon` do it."""
    client = cluster.client(agent="kubectl")
    body = b'{"spec": {"unschedulable": %s}}' % (b"true" if is_cordoned else b"null")
    answer = client.send("PATCH", f"/api/v1/nodes/{name}", body=body, content_type="application/merge-patch+json")
    assert answer.is_success


def first_call(part: str) -> int:
    """The number of the first call that writes to such a path, in a run that nothing happens to."""
    cluster, numbers = world(), list[int]()

    def note(call: Call) -> None:
        if call.request.method != "GET" and part in call.request.path:
            numbers.append(way.num_calls)

    way = FaultyWay(cluster.api, note)
    drain(cluster, way)
    return numbers[0]


def test_a_node_that_is_drained_stays_cordoned_and_one_that_is_given_up_does_not() -> None:
    cluster = world()
    observer = Observer(cluster)

    result = drain(cluster)

    observer.assert_kept()
    assert cluster.pods(node="n1") == []
    assert set(cluster.nodes_of("web")) <= {"n3", "n4"}
    assert cordoned(cluster) == {"n1": OWNER}
    assert result.decisions.notes[-2:] == (
        "cordoned 2 nodes (cordon: true): n1, n2",
        "uncordoned 1 node (cordon: true): n2, which could not be drained",
    )


def test_cordoning_takes_exactly_what_the_component_adds() -> None:
    cluster = world()
    drain(cluster)

    ours = (call.request for call in cluster.api.calls if call.request.agent == "us")
    found = (requested(Request(each.method, each.path)) for each in ours)
    added = documents((COMPONENTS / "cordon" / "rbac.yaml").read_text())
    grants = grants_of(each for each in added if each["kind"].endswith("Role"))
    assert grants == CORDONS
    assert {grant for grant in found if grant is not None} - LIST_ALL - EVICT == grants


def test_a_run_that_evicts_nothing_cordons_nothing() -> None:
    cluster = world()
    drain(cluster)

    result = drain(cluster)

    assert result.outcomes == ()
    assert cordoned(cluster) == {"n1": OWNER}


def test_a_dry_run_cordons_nothing() -> None:
    cluster = world()

    result = drain(cluster, options=replace(FAST, dry_run=True))

    assert len(result.decisions.moves) == 2
    assert cordoned(cluster) == {}


def test_a_node_that_a_user_has_cordoned_stays_cordoned() -> None:
    cluster = world()
    set_by_user(cluster, "n2", is_cordoned=True)

    drain(cluster)

    assert cordoned(cluster) == {"n1": OWNER, "n2": ""}


def test_a_node_that_a_user_cordons_again_is_not_uncordoned() -> None:
    """The mark of the run before is still there, but the field is the user's."""
    cluster = world()
    drain(cluster)
    set_by_user(cluster, "n1", is_cordoned=False)
    for found in deployment("late", 1, on=["n1"], cpu="500m"):
        cluster.add(found)
    cluster.add(budget("late", maxUnavailable=0))
    set_by_user(cluster, "n1", is_cordoned=True)
    cluster.clock.sleep(30)

    drain(cluster)

    assert cordoned(cluster) == {"n1": OWNER}


def test_a_policy_with_another_lease_leaves_the_cordon_alone() -> None:
    cluster = world()
    with pytest.raises(Killed):
        drain(cluster, FaultyWay(cluster.api, kill_at=first_call("/eviction")))

    drain(cluster, options=replace(FAST, lease=LeaseOptions(name="other", namespace="kube-system")))

    assert cordoned(cluster) == {"n1": OWNER, "n2": OWNER}


def forbidden(call: Call) -> AnyFault | None:
    """Refuses the right to patch the second node."""
    is_meant = call.request.method == "PATCH" and call.request.path.endswith("/nodes/n2")
    return Fault(Act.NEVER, 403) if is_meant else None


def test_without_the_right_to_cordon_nothing_is_evicted_and_nothing_stays_cordoned() -> None:
    cluster = world()

    with pytest.raises(ExchangeError, match=r"node n2 cannot be cordoned.*resources: \[nodes\], verbs: \[patch\]"):
        drain(cluster, FaultyWay(cluster.api, forbidden))

    assert cluster.nodes_of("web") == ["n1", "n1"]
    assert cordoned(cluster) == {}


@pytest.mark.parametrize("fault", [Kind.CONFLICT, Fault(delivery=Delivery.TRUNCATED)], ids=["conflict", "no answer"])
def test_a_cordon_without_a_clear_answer_is_looked_at(fault: AnyFault) -> None:
    cluster, met = world(), list[int]()

    def choose(call: Call) -> AnyFault | None:
        is_meant = call.request.method == "PATCH" and "/nodes/" in call.request.path and not met
        met.extend([call.number] if is_meant else [])
        return fault if is_meant else None

    drain(cluster, FaultyWay(cluster.api, choose))

    assert met
    assert cordoned(cluster) == {"n1": OWNER}


@pytest.mark.long
@pytest.mark.parametrize("kills_after_effect", [False, True], ids=["before the effect", "after the effect"])
def test_a_run_that_is_ended_at_any_call_is_finished_by_the_next(kills_after_effect: bool) -> None:
    """Before the first cordon nothing is written."""
    kill_at, is_over, left = first_call("/nodes/") - 1, False, set[tuple[str, ...]]()
    while not is_over:
        kill_at += 1
        cluster = world()
        set_by_user(cluster, "n4", is_cordoned=True)
        way = FaultyWay(cluster.api, kill_at=kill_at, kills_after_effect=kills_after_effect)
        try:
            drain(cluster, way)
            is_over = True
        except Killed:
            cluster.clock.sleep(200)
            left.add(tuple(cordoned(cluster)))
            drain(cluster)

        assert cluster.pods(node="n1") == []
        assert cordoned(cluster) == {"n1": OWNER, "n4": ""}
    assert {("n1", "n4"), ("n1", "n2", "n4")} <= left


@pytest.mark.long
def test_a_node_whose_read_has_no_end_holds_no_run_up_and_stays_cordoned_until_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cluster answers one call at a time, so the read ends once it is left behind."""
    cluster, stop, left_behind = world(), threading.Event(), threading.Event()
    give_up, passage = ObjectCalls.give_up, FaultyWay(cluster.api)
    monkeypatch.setattr(
        ObjectCalls, "give_up", lambda calls: [each() for each in (partial(give_up, calls), left_behind.set)]
    )
    passage.before("GET", "/nodes/n2", lambda: [each() for each in (stop.set, left_behind.wait)], nth=2)

    result = run(cluster.client(passage=passage), policy(), stop=stop, clock=ClusterClock(cluster))

    left = "some nodes may still be cordoned (cordon: true): the run ended while it uncordoned nodes"
    assert [note for note in result.decisions.notes if note.startswith(left)]
    assert sorted(cordoned(cluster)) == ["n1", "n2"]
