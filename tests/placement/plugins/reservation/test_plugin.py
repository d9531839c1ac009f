"""Reservation: who may use what is reserved, how much of it, and through which Reservation (koordinator 1.8)."""

from __future__ import annotations

import pytest

from tests.builders import Object, owner, required_anti_affinity
from tests.placement.plugins.reservation.worlds import ONE_NODE, World, koord_pod, nodes, reservation_object

ORDER = "scheduling.koordinator.sh/reservation-order"


def test_reserved_room_is_free_for_its_owner_and_taken_for_others() -> None:
    world = World(
        [
            *ONE_NODE,
            reservation_object("r", node="a", cpu="6"),
            koord_pod("mine", cpu="6"),
            koord_pod("other", app="x", cpu="6"),
        ]
    )

    assert world.fitting("mine") == ["a"]
    assert world.reasons("other") == {"a": ("Insufficient cpu",)}


def test_pods_in_vain_are_tried_again_once_a_reservation_was_used() -> None:
    world = World([*ONE_NODE, reservation_object("r", node="a", cpu="6"), koord_pod("mine", cpu="6")])
    before = world.scheduler.num_changes_seen()

    world.place("mine")

    after = world.scheduler.num_changes_seen()
    assert before is not None
    assert after is not None
    assert after > before


def test_kube_scheduler_knows_nothing_of_reservations() -> None:
    stranger = koord_pod("stranger", app="x", cpu="6")
    stranger["spec"]["schedulerName"] = "default-scheduler"
    world = World([*ONE_NODE, reservation_object("r", node="a", cpu="6"), stranger])

    assert int(world.cluster.table.requested.sum()) == 0


def test_aligned_reservation_lends_what_is_left_and_free_room_beside() -> None:
    """§3.6: request ≤ nodeAllocatable - (nodeRequested - rRem)."""
    objects = [*ONE_NODE, reservation_object("r", node="a", cpu="4"), koord_pod("p", cpu="7"), koord_pod("q", cpu="9")]
    world = World(objects)

    assert world.place("p") == ("a", "r")
    assert world.fitting("q") == []


def test_restricted_reservation_grants_no_more_than_is_left() -> None:
    """§3.6: additionally request ≤ rRem; what does not fit goes beside it where there is room."""
    world = World(
        [
            *ONE_NODE,
            reservation_object("r", node="a", cpu="5", allocatePolicy="Restricted", allocateOnce=False),
            koord_pod("small", cpu="2"),
            koord_pod("beside", cpu="4"),
            koord_pod("large", cpu="4"),
        ]
    )

    assert world.place("small") == ("a", "r")
    assert world.reasons("large") == {"a": ("Insufficient cpu by node",)}


def test_restricted_options_leave_other_resources_to_the_node() -> None:
    options = {"scheduling.koordinator.sh/reservation-restricted-options": '{"resources":["memory"]}'}
    held = reservation_object("r", node="a", cpu="1", memory="4Gi", allocatePolicy="Restricted", annotations=options)
    world = World([*ONE_NODE, held, koord_pod("p", cpu="3", memory="4Gi"), koord_pod("q", cpu="1", memory="5Gi")])

    assert world.place("p") == ("a", "r")


def test_two_reservations_are_not_added_up() -> None:
    """A pod uses one Reservation, so the room of the other stays taken."""
    objects = [
        *nodes(a="4"),
        *(reservation_object(name, node="a", cpu="2") for name in ("r", "s")),
        koord_pod("p", cpu="3"),
    ]
    world = World(objects)

    assert world.reasons("p") == {"a": ("Insufficient cpu by node",)}


def test_reservation_for_one_pod_is_used_up_and_leaves_the_rest_to_all() -> None:
    world = World(
        [
            *ONE_NODE,
            reservation_object("r", node="a", cpu="8"),
            koord_pod("p", cpu="1"),
            koord_pod("x", app="x", cpu="7"),
        ]
    )

    assert world.fitting("x") == []
    assert world.place("p") == ("a", "r")
    assert not world.held["r"].is_active
    assert world.fitting("x") == ["a"]


def test_reservation_for_many_pods_keeps_what_is_left() -> None:
    held = reservation_object("r", node="a", cpu="6", allocateOnce=False)
    world = World([*ONE_NODE, held, koord_pod("p", cpu="4"), koord_pod("q", cpu="2"), koord_pod("x", app="x", cpu="3")])

    assert world.place("p") == ("a", "r")
    assert world.fitting("x") == []
    assert world.place("q") == ("a", "r")
    assert world.fitting("x") == []


def test_manifest_without_reservation_at_reserve_never_uses_one_up() -> None:
    """§3.9a: the pod is placed on the room, and the Reservation stays as it was."""
    objects = [
        *ONE_NODE,
        reservation_object("r", node="a", cpu="6"),
        koord_pod("p", cpu="6"),
        koord_pod("x", app="x", cpu="1"),
    ]
    world = World(objects, reserves=False)

    assert world.place("p") == ("a", "")
    assert world.held["r"].is_active
    assert world.fitting("x") == []


@pytest.mark.parametrize(
    ("owners", "uses"),
    [
        pytest.param([{"object": {"name": "p", "namespace": "default"}}], "r", id="by name"),
        pytest.param([{"object": {"name": "q"}}], "", id="by the name of another"),
        pytest.param([{"object": {"uid": "default-p"}}], "r", id="by uid"),
        pytest.param([{"object": {"name": "p", "apiVersion": "v1"}}], "", id="by an apiVersion that cached pods lack"),
        pytest.param([{"object": {"namespace": "other"}, "labelSelector": {}}], "", id="everything in an entry counts"),
        pytest.param([{"object": {"name": "q"}}, {"labelSelector": {}}], "r", id="one entry is enough"),
        pytest.param(
            [{"controller": {"kind": "ReplicaSet", "name": "web", "uid": "replicaset-web"}}], "r", id="by controller"
        ),
        pytest.param([{"controller": {"uid": "other"}}], "", id="by another controller"),
        pytest.param(
            [{"controller": {"uid": "replicaset-web", "namespace": "x"}}], "", id="by the controller's namespace"
        ),
        pytest.param([{"controller": {"uid": "helper", "controller": True}}], "", id="only as the controller"),
        pytest.param([{"controller": {"uid": "helper"}}], "r", id="by any owner reference"),
        pytest.param([{}], "r", id="an empty entry is for all"),
        pytest.param([], "", id="no entry is for none"),
    ],
)
def test_owners_are_told_by_what_is_stated(owners: list[Object], uses: str) -> None:
    """§3.3."""
    pod = koord_pod("p", cpu="1", owners=["ReplicaSet/web", owner("ConfigMap/helper", uid="helper", controller=False)])
    world = World([*ONE_NODE, reservation_object("r", node="a", owners=owners), pod])

    assert world.place("p") == ("a", uses)


def test_pods_that_are_alike_are_told_apart_where_a_reservation_names_one() -> None:
    held = reservation_object("r", node="a", cpu="8", owners=[{"object": {"name": "q", "namespace": "default"}}])
    world = World([*ONE_NODE, held, koord_pod("p", cpu="8"), koord_pod("q", cpu="8")])

    assert (world.fitting("p"), world.fitting("q")) == ([], ["a"])


def test_pod_that_ignores_reservations_uses_all_their_room_and_owns_none() -> None:
    label = {"scheduling.koordinator.sh/reservation-ignored": "true"}
    held = [reservation_object(name, node="a", cpu="3", app="x") for name in ("r", "s")]
    world = World([*ONE_NODE, *held, koord_pod("p", cpu="8", labels=label)])

    assert world.place("p") == ("a", "")


def test_lowest_order_is_used_first_and_draws_the_pod_to_its_node() -> None:
    """§3.7: among nodes, too, even where the pod does not fit into that Reservation."""
    held = [
        reservation_object("late", node="a", cpu="1", labels={ORDER: "2"}),
        reservation_object("early", node="b", cpu="6", labels={ORDER: "1"}),
        reservation_object("free", node="b", cpu="1"),
    ]
    world = World([*nodes(a="8", b="8"), *held, koord_pod("p", cpu="1")])

    assert world.place("p") == ("b", "early")


def test_fullest_reservation_is_used_where_none_has_an_order() -> None:
    held = [reservation_object("wide", node="a", cpu="4"), reservation_object("tight", node="b", cpu="2")]
    world = World([*nodes(a="8", b="8"), *held, koord_pod("p", cpu="2")])

    assert world.place("p") == ("b", "tight")


def test_used_up_reservation_is_none() -> None:
    spent = reservation_object("r", node="a", cpu="6", phase="Succeeded")
    world = World([*ONE_NODE, spent, koord_pod("x", app="x", cpu="8")])

    assert world.fitting("x") == ["a"]


def test_owner_that_runs_already_takes_what_it_asks_for_of_the_reservation() -> None:
    held = reservation_object("r", node="a", cpu="6", allocateOnce=False)
    running = koord_pod("running", node="a", cpu="4", uses="r")
    world = World([*ONE_NODE, held, running, koord_pod("x", app="x", cpu="3"), koord_pod("y", app="x", cpu="2")])

    assert (world.fitting("x"), world.fitting("y")) == ([], ["a"])


def test_leaving_owner_gives_the_room_back_to_a_reservation_for_many() -> None:
    held = reservation_object("r", node="a", cpu="6", allocateOnce=False)
    world = World(
        [*ONE_NODE, held, koord_pod("running", node="a", cpu="4", uses="r"), koord_pod("x", app="x", cpu="3")]
    )

    world.cluster.remove(world.pods["running"])

    assert world.fitting("x") == []


def test_leaving_owner_gives_nothing_back_to_a_reservation_for_one() -> None:
    """§3.2: it has succeeded, also where its controller has not written that yet."""
    held = reservation_object("r", node="a", cpu="6")
    world = World(
        [*ONE_NODE, held, koord_pod("running", node="a", cpu="4", uses="r"), koord_pod("x", app="x", cpu="8")]
    )

    world.cluster.remove(world.pods["running"])

    assert world.fitting("x") == ["a"]


def test_reserve_pod_keeps_what_its_template_keeps_away() -> None:
    """§3.4: the reserve pod runs through all plugins, so its anti-affinity holds against others."""
    apart = {"spec": {"affinity": required_anti_affinity({"app": "x"})}}
    world = World(
        [*ONE_NODE, reservation_object("r", node="a", cpu="1", template=apart), koord_pod("x", app="x", cpu="1")]
    )

    assert world.fitting("x") == []


def test_owner_is_not_kept_away_by_its_own_reservation() -> None:
    apart = required_anti_affinity({"app": "web"})
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"affinity": apart}}
    world = World(
        [
            *ONE_NODE,
            reservation_object("r", node="a", cpu="1", template=template),
            koord_pod("p", cpu="1", affinity=apart),
        ]
    )

    assert world.place("p") == ("a", "r")


def test_overcommitted_node_is_told_of_where_owners_have_more_than_is_reserved() -> None:
    """Measured: to others all that owners have is taken off what is counted, so that the kubelet refuses the pod."""
    held = reservation_object("r", node="a", cpu="1", allocateOnce=False)
    world = World(
        [*nodes(a="4"), held, koord_pod("running", node="a", cpu="4", uses="r"), koord_pod("x", app="x", cpu="1")]
    )

    placement = world.placed("x")

    assert placement.conditions == (
        "owners of a Reservation on a have more than it reserves, so that the kubelet refuses the pod there"
        " until others are gone",
    )


def test_view_of_a_cycle_leaves_the_cluster_as_it_was() -> None:
    world = World([*ONE_NODE, reservation_object("r", node="a", cpu="6"), koord_pod("x", app="x", cpu="6")])
    world.evaluate("x")
    before = world.cluster.digest()

    world.reasons("x")

    assert world.cluster.digest() == before


def test_nothing_is_charged_for_what_a_reservation_has_no_more_of() -> None:
    used_up = reservation_object("r", node="a", cpu="1", memory="8Gi", allocateOnce=False)
    owner = koord_pod("owner", node="a", uses="r", cpu="1", memory="4Gi")
    world = World([*nodes(a="2", b="2"), used_up, owner, koord_pod("other", app="other", cpu="500m", memory="8Gi")])

    scores = world.evaluate("other").scores()

    # A container that asks for no CPU would be charged with 100m. Free are a quarter of the CPUs and 48 of 64Gi.
    assert scores.by_plugin["NodeResourcesFit"].final.tolist()[0] == (25 + 75) // 2
