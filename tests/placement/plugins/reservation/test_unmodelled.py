"""What of Reservations is not modelled never makes a landing certain (§3.5, §3.8)."""

from __future__ import annotations

import copy
import json

import pytest

from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION, MANIFEST
from tests.builders import Object
from tests.placement.plugins.reservation.test_landings import landing_of, web
from tests.placement.plugins.reservation.worlds import (
    World,
    koord_pod,
    nodes,
    prover_of,
    reservation_object,
    snapshot_of,
)

_LANDS, _LANDS_IF, _NO = LandingVerdict.LANDS, LandingVerdict.LANDS_IF, LandingVerdict.NO
_LIKELY = LandingVerdict.LIKELY


def pre_allocating(**facts: object) -> Object:
    """Reservation r, which may be bound where pods still run."""
    return reservation_object("r", **{"preAllocation": True, "allocatePolicy": "Restricted", **facts})  # type: ignore[arg-type]


def moving(*others: Object, cpu: str = "3", **facts: object) -> list[Object]:
    """A pod of app x that leaves the cordoned node a for node b, and what else there is."""
    victim = koord_pod("p", node="a", cpu=cpu, owners=["ReplicaSet/web"], **{"app": "x", **facts})  # type: ignore[arg-type]
    objects = [*nodes(a="4", b="4"), *web(victim), *others]
    objects[0]["spec"]["unschedulable"] = True
    return objects


def test_reservation_that_may_take_the_room_of_pods_comes_first_or_not() -> None:
    prover = prover_of(*moving(pre_allocating()))
    landing, joint = landing_of(prover, "p"), prover.prove(prover.cluster.snapshot.pods)

    assert (landing.verdict, landing.node, joint.verdict) == (_LANDS_IF, "b", _LANDS_IF)
    assert landing.conditions == (
        "Reservation r, which may reserve room that pods still have (preAllocation), must not be bound to b first",
    )


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"allocatePolicy": "Aligned"}, id="is bound nowhere, for it is not Restricted"),
        pytest.param({"template": {"spec": {"nodeSelector": {"pool": "other"}}}}, id="goes to other nodes alone"),
        pytest.param({"owners": []}, id="has no owners"),
    ],
)
def test_reservation_that_cannot_come_does_not_matter(facts: dict[str, object]) -> None:
    landing = landing_of(prover_of(*moving(pre_allocating(**facts))), "p")

    assert landing.verdict is _LANDS


def test_pod_that_uses_a_reservation_that_was_bound_in_advance_may_find_less() -> None:
    landing = landing_of(prover_of(*moving(pre_allocating(node="b"), app="web")), "p")

    assert landing.verdict is _LANDS_IF
    assert landing.conditions == (
        "Reservation r on b, which was bound where pods still ran (preAllocation), must have room for it",
    )


def test_waiting_reservation_holds_the_room_of_the_pod_that_is_to_leave() -> None:
    """`Waiting` until the room is free: who leaves it leaves it to the Reservation."""
    waiting = pre_allocating(node="b", phase="Waiting")
    world = World(
        [*nodes(b="4"), waiting, koord_pod("there", node="b", cpu="4", uses="r"), koord_pod("x", app="x", cpu="1")]
    )

    before = world.fitting("x")
    world.cluster.remove(world.pods["there"])
    after = world.fitting("x")

    assert (before, after) == ([], [])


def test_waiting_reservation_may_get_more_of_its_node() -> None:
    waiting = pre_allocating(node="b", phase="Waiting", cpu="1")

    landing = landing_of(prover_of(*moving(waiting)), "p")

    assert landing.verdict is _LANDS_IF
    assert landing.conditions == (
        "Reservation r, which waits for room that pods on b still have, must not get it first",
    )


def operating(**facts: object) -> Object:
    """A pod on node b that holds its room for pods of app web."""
    owners = [{"labelSelector": {"matchLabels": {"app": "web"}}}]
    return koord_pod(
        "holds",
        app="holder",
        labels={"scheduling.koordinator.sh/operating-mode": "Reservation"},
        annotations={"scheduling.koordinator.sh/reservation-owners": json.dumps(owners)},
        **{"node": "b", "cpu": "1", "owners": [], **facts},  # type: ignore[arg-type]
    )


def test_owner_of_a_pod_that_acts_as_a_reservation_is_not_certain() -> None:
    owner, stranger = (landing_of(prover_of(*moving(operating(), app=app)), "p") for app in ("web", "x"))

    assert (owner.verdict, owner.cause) == (_LIKELY, "pods that act as Reservations are not modelled (Reservation)")
    assert stranger.verdict is _LANDS


def test_pod_that_acts_as_a_reservation_is_not_certain_itself() -> None:
    holder = operating(node="a", owners=["ReplicaSet/web"])
    cordoned, other = nodes(a="4", b="4")
    cordoned["spec"]["unschedulable"] = True

    assert landing_of(prover_of(cordoned, other, *web(holder)), "holds").verdict is _LIKELY


@pytest.mark.parametrize("owners", ["", "[", '[{"labelSelector":{"matchExpressions":[{"operator":"?"}]}}]'])
def test_owners_that_cannot_be_read_match_no_pod(owners: str) -> None:
    holder = operating()
    holder["metadata"]["annotations"]["scheduling.koordinator.sh/reservation-owners"] = owners

    assert landing_of(prover_of(*moving(holder, app="web")), "p").verdict is _LANDS


@pytest.mark.parametrize(("is_enabled", "verdict"), [(False, _LANDS), (True, _LIKELY)])
def test_preemption_by_reservations_leaves_no_landing_certain(is_enabled: bool, verdict: LandingVerdict) -> None:
    document = copy.deepcopy(dict(MANIFEST))
    document["profiles"][0]["pluginConfig"].append({"name": "Reservation", "args": {"enablePreemption": is_enabled}})
    configuration = load_scheduler_configuration(document, version=KOORD_KUBE_VERSION, plugins=PLUGINS)
    prover = LandingProver(snapshot_of(*moving()), configuration=configuration, version=KOORD_KUBE_VERSION)

    landing = landing_of(prover, "p")

    assert landing.verdict is verdict
    assert landing.cause == ("preemption by Reservations is not modelled (Reservation)" if is_enabled else "")
