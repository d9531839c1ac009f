"""Which nodes are cordoned and uncordoned, by what is left on them and by who has cordoned them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.cordons import Cordons
from descheduler.migration.dispatch.surroundings import HALTED, Surroundings
from descheduler.model.node import CORDON_ANNOTATION
from descheduler.model.pod import Owner, Pod
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.transport.errors import ExchangeError
from tests.builders import make_node, make_pod, make_snapshot, pod_object
from tests.faults.faults import Act, Delivery, Fault
from tests.living.api.server import Call
from tests.living.builders import node
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Kind
from tests.migration.stand_ins import FAST, Clock, around, make_eviction

US = "policy.kube-system"
OURS = f"descheduler-cordon-{US}"
MARK = {CORDON_ANNOTATION: US}
Object = dict[str, Any]


class World:
    """Node n1 as it is now, with these objects; by the plan it had these pods, and was `marked` by an earlier run."""

    def __init__(
        self,
        *objects: Object,
        pods: Sequence[Pod] = (),
        now: Object | None = None,
        marked: dict[str, str] | None = None,
        wanted: Sequence[str] = ("n1",),
        choose: Any = lambda call: None,
        **facts: Any,
    ) -> None:
        self.cluster = LivingCluster([now or node("n1"), node("n2"), *objects], acts=False)
        self.clock = Clock()
        planned = replace(make_node("n1", unschedulable=marked is not None), annotations=marked or {})
        there: Surroundings = replace(around(FAST, self.clock), **facts)
        client = self.cluster.client(passage=FaultyWay(self.cluster.api, choose))
        self.cordons = Cordons(ObjectCalls(client), US, wanted, make_snapshot([planned], pods), there)

    def cordoned(self) -> list[str]:
        """The nodes that are unschedulable."""
        return [each["metadata"]["name"] for each in self.cluster.all("nodes") if each["spec"].get("unschedulable")]


def cordoned_node(*managers: str, mark: str | None = US, unschedulable: bool = True) -> Object:
    """Node n1 with this mark, whose field has been set by these."""
    made = node("n1", unschedulable=unschedulable)
    fields: Object = {"f:spec": {"f:unschedulable": {}}}
    made["metadata"]["managedFields"] = [{"manager": manager, "fieldsV1": fields} for manager in managers]
    made["metadata"]["annotations"] = {} if mark is None else {CORDON_ANNOTATION: mark}
    return made


def outcome(name: str, kind: OutcomeKind = OutcomeKind.EVICTED, *, uid: str = "", namespace: str = "shop") -> Outcome:
    """A pod of ReplicaSet web that was evicted, or was not."""
    eviction = make_eviction(name, namespace=namespace, uid=uid or name)
    controller = Owner("ReplicaSet", "web", "replicaset-web", "apps/v1", controller=True)
    return Outcome(replace(eviction, controller=controller), kind, OutcomeCode.DONE, "")


def pod(name: str, **facts: Any) -> Pod:
    return make_pod(name, **{"namespace": "shop", "node": "n1", "uid": name, **facts})


def test_node_is_cordoned_once_with_the_mark_of_the_policy() -> None:
    world = World()
    world.cordons.begin()
    world.cordons.begin()

    (found,) = [each for each in world.cluster.all("nodes") if each["metadata"]["name"] == "n1"]
    assert (found["metadata"]["annotations"], found["spec"]["unschedulable"]) == (MARK, True)
    assert len(world.cluster.api.sent("PATCH")) == 1


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"halted": lambda: (OutcomeCode.STOPPED, HALTED[OutcomeCode.STOPPED])}, id="it is stopped"),
        pytest.param({"why_not_call": lambda: "the Lease was lost"}, id="it has lost its Lease"),
    ],
)
def test_run_that_must_not_go_on_cordons_nothing(facts: dict[str, Any]) -> None:
    world = World(**facts)
    world.cordons.begin()

    assert world.cluster.api.calls == []


@pytest.mark.parametrize("now", [node("n1", unschedulable=True), cordoned_node("kubectl", mark=None)])
def test_node_that_is_cordoned_already_is_not_that_of_the_run(now: Object) -> None:
    world = World(now=now, pods=[pod("web-0")])
    world.cordons.begin()

    assert world.cordons.end([]) == []
    assert world.cordoned() == ["n1"]


GIVEN_UP = [
    "cordoned 1 node (cordon: true): n1",
    "uncordoned 1 node (cordon: true): n1, which could not be drained",
]


@pytest.mark.parametrize(
    ("pods", "outcomes", "is_uncordoned"),
    [
        pytest.param([], [], False, id="no pod was there"),
        pytest.param([pod("web-0")], [], True, id="a pod stays"),
        pytest.param([pod("web-0")], [outcome("web-0")], False, id="its pod was evicted"),
        pytest.param([pod("web-0")], [outcome("web-0", OutcomeKind.REFUSED)], True, id="its pod was refused"),
        pytest.param([pod("web-0"), pod("web-1")], [outcome("web-0")], True, id="one of two was evicted"),
        pytest.param([pod("web-0")], [outcome("web-0", namespace="other")], True, id="one of another namespace"),
        pytest.param([pod("web-0", phase="Succeeded")], [], False, id="its pod has ended"),
        pytest.param([pod("web-0", owners=["DaemonSet/agent"])], [], False, id="its pod is of a DaemonSet"),
        pytest.param([pod("web-0", deleted=1)], [], False, id="its pod is being deleted"),
    ],
)
def test_node_that_still_has_pods_is_uncordoned(
    pods: list[Pod], outcomes: list[Outcome], *, is_uncordoned: bool
) -> None:
    world = World(pods=pods)
    world.cordons.begin()

    notes = world.cordons.end(outcomes)

    assert world.cordoned() == ([] if is_uncordoned else ["n1"])
    assert notes == (GIVEN_UP if is_uncordoned else GIVEN_UP[:1])


@pytest.mark.parametrize(
    ("marked", "now", "is_uncordoned"),
    [
        pytest.param(MARK, cordoned_node(OURS), True, id="by an earlier run"),
        pytest.param({CORDON_ANNOTATION: "another"}, cordoned_node(OURS), False, id="by another policy, in the plan"),
        pytest.param({}, cordoned_node(OURS), False, id="by nobody knows whom, in the plan"),
        pytest.param(None, cordoned_node(OURS), False, id="by an earlier run, since the plan"),
        pytest.param(MARK, cordoned_node(OURS, mark="another"), False, id="by another policy"),
        pytest.param(MARK, cordoned_node(OURS, mark=None), False, id="by nobody, as its annotation says"),
        pytest.param(MARK, cordoned_node("kubectl"), False, id="by a user"),
        pytest.param(MARK, cordoned_node(OURS, "kubectl"), False, id="by an earlier run and a user"),
        pytest.param(MARK, cordoned_node(), False, id="by nobody, as its fields say"),
        pytest.param(MARK, node("n1"), True, id="not any more"),
    ],
)
def test_only_cordons_of_this_policy_are_taken_back(
    marked: dict[str, str] | None, now: Object, *, is_uncordoned: bool
) -> None:
    world = World(now=now, marked=marked, pods=[pod("web-0")], wanted=())

    world.cordons.end([])

    assert world.cordoned() == ([] if is_uncordoned else ["n1"])


def live_pod(name: str, *, on: str = "n2", workload: str = "ReplicaSet/web", **facts: Any) -> Object:
    return pod_object(name, namespace="shop", uid=name, node=on, owners=[workload], **facts)


NOT_YET = (
    "did not uncordon 1 node (cordon: true): n1, because replacement pods are not scheduled yet; the next run does"
)


@pytest.mark.parametrize(
    ("found", "is_uncordoned", "seconds"),
    [
        pytest.param([], True, 1.0, id="all are gone"),
        pytest.param([live_pod("web-9")], True, 1.0, id="the replacement has a node"),
        pytest.param([live_pod("web-9", on="")], False, 120.0, id="the replacement has none"),
        pytest.param([live_pod("web-0", on="n1")], False, 120.0, id="the pod is still there"),
        pytest.param([live_pod("api-0", on="", workload="ReplicaSet/api")], True, 1.0, id="another workload waits"),
        pytest.param([live_pod("web-9", on="", phase="Failed")], True, 1.0, id="a pod that has ended waits"),
    ],
)
def test_nodes_are_uncordoned_once_replacements_have_others(
    found: list[Object], seconds: float, *, is_uncordoned: bool
) -> None:
    """Else the scheduler would take them."""
    world = World(*found, pods=[pod("web-0"), pod("stays")])
    world.cordons.begin()

    notes = world.cordons.end([outcome("web-0")])

    assert world.cordoned() == ([] if is_uncordoned else ["n1"])
    assert notes == (GIVEN_UP if is_uncordoned else [GIVEN_UP[0], NOT_YET])
    assert world.clock.now() == seconds


def test_successor_of_the_same_name_is_not_waited_for() -> None:
    successor = live_pod("web-0")
    successor["metadata"]["uid"] = "new"
    world = World(successor, pods=[pod("web-0"), pod("stays")])
    world.cordons.begin()

    world.cordons.end([outcome("web-0")])

    assert world.cordoned() == []


def test_run_that_is_halted_does_not_wait_for_replacements() -> None:
    over = list[tuple[OutcomeCode, str]]()
    world = World(live_pod("web-9", on=""), pods=[pod("web-0"), pod("stays")], halted=lambda: next(iter(over), None))
    world.cordons.begin()
    over.append((OutcomeCode.GUARD, HALTED[OutcomeCode.GUARD]))

    assert world.cordons.end([outcome("web-0")]) == [GIVEN_UP[0], NOT_YET]
    assert world.clock.now() == 0.0


def test_halted_run_that_has_evicted_nothing_uncordons_at_once() -> None:
    over = list[tuple[OutcomeCode, str]]()
    world = World(pods=[pod("stays")], halted=lambda: next(iter(over), None))
    world.cordons.begin()
    over.append((OutcomeCode.GUARD, HALTED[OutcomeCode.GUARD]))

    assert world.cordons.end([outcome("stays", OutcomeKind.REFUSED)]) == GIVEN_UP


def patches(fault: AnyFault, *, num: int = 1_000) -> Any:
    """Has the first `num` patches of nodes meet this fault."""
    left = [fault] * num

    def choose(call: Call) -> AnyFault | None:
        return left.pop() if left and call.request.method == "PATCH" else None

    return choose


LOST = Fault(Act.NEVER, delivery=Delivery.RESET)


@pytest.mark.parametrize(
    ("choose", "is_cordoned", "seconds"),
    [
        pytest.param(patches(Kind.CONFLICT, num=4), True, 0.0, id="others change it four times"),
        pytest.param(patches(Kind.CONFLICT), False, 0.0, id="others keep changing it"),
        pytest.param(patches(LOST, num=4), True, 4.0, id="four answers are lost"),
        pytest.param(patches(LOST), False, 5.0, id="all answers are lost"),
        pytest.param(patches(Fault(Act.NEVER, 403)), False, 0.0, id="it is not allowed"),
    ],
)
def test_node_is_tried_again_where_that_may_help(choose: Any, seconds: float, *, is_cordoned: bool) -> None:
    world = World(choose=choose)

    if is_cordoned:
        world.cordons.begin()
    else:
        with pytest.raises(ExchangeError, match="node n1 cannot be cordoned, so no pod is evicted from it"):
            world.cordons.begin()
    assert (world.cordoned(), world.clock.now()) == (["n1"] if is_cordoned else [], seconds)


def test_cordon_that_had_its_effect_without_an_answer_is_that_of_the_run() -> None:
    world = World(choose=patches(Fault(delivery=Delivery.RESET), num=1), pods=[pod("stays")])
    world.cordons.begin()

    assert world.cordons.end([]) == GIVEN_UP


def test_node_that_cannot_be_uncordoned_is_told() -> None:
    uncordoned = list[bool]()

    def choose(call: Call) -> AnyFault | None:
        return Fault(Act.NEVER, 403) if call.request.method == "PATCH" and uncordoned else None

    world = World(choose=choose, pods=[pod("stays")])
    world.cordons.begin()
    uncordoned.append(True)

    notes = world.cordons.end([])

    assert notes[0] == GIVEN_UP[0]
    assert notes[1].startswith("node n1 stays cordoned until the next run: ")


def test_without_the_lease_nothing_is_uncordoned() -> None:
    lost = list[str]()
    world = World(pods=[pod("stays")], why_not_call=lambda: next(iter(lost), ""))
    world.cordons.begin()
    lost.append("the Lease was lost")

    assert world.cordons.end([])[1:] == ["node n1 stays cordoned until the next run: the Lease was lost"]
    assert world.cordoned() == ["n1"]


@pytest.mark.parametrize("name", ["gone", "../x"])
def test_node_that_is_not_there_is_passed_over_or_an_error(name: str) -> None:
    world = World(wanted=(name,))

    if name == "gone":
        world.cordons.begin()
        assert world.cordons.end([]) == []
    else:
        with pytest.raises(ExchangeError):
            world.cordons.begin()
    assert world.cluster.api.sent("PATCH") == []
