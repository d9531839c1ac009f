"""Where a replacement lands while other pods wait for a node."""

from __future__ import annotations

from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.prover import LandingProver
from tests.builders import (
    Object,
    node_object,
    pod_object,
)
from tests.placement.considered import LANDS, LANDS_IF, NO, consider
from tests.placement.workloads import cluster_of, pod_named


class TestPendingPods:
    """Pods that wait for a node compete for the room that an eviction frees."""

    def snapshot(self, *pending: Object) -> Snapshot:
        """A full node, a cordoned one that cannot help, and `pending` pods."""
        return cluster_of(
            node_object("a", cpu="2"),
            pod_object("victim", cpu="2", priority=10),
            *pending,
        )

    def test_one_of_higher_priority_may_take_the_room_first(self) -> None:
        snapshot = self.snapshot(pod_object("waiting", node="", cpu="2", priority=20, owners=["ReplicaSet/other"]))

        landing = consider(snapshot)

        assert landing.verdict is LANDS_IF
        assert landing.conditions == ("pending pod default/waiting may be scheduled there first",)
        assert landing.node == "a"

    def test_one_of_lower_priority_comes_later(self) -> None:
        snapshot = self.snapshot(pod_object("waiting", node="", cpu="2", priority=5, owners=["ReplicaSet/other"]))

        assert consider(snapshot).verdict is LANDS

    def test_one_that_does_not_fit_either_changes_nothing(self) -> None:
        snapshot = self.snapshot(pod_object("waiting", node="", cpu="3", priority=20, owners=["ReplicaSet/other"]))

        assert consider(snapshot).verdict is LANDS

    def test_gated_one_is_not_tried(self) -> None:
        gated = pod_object(
            "waiting", node="", cpu="2", priority=20, owners=["ReplicaSet/x"], spec={"schedulingGates": [{"name": "q"}]}
        )

        assert consider(self.snapshot(gated)).verdict is LANDS

    def test_one_that_fits_already_takes_its_room_before_any_move(self) -> None:
        snapshot = cluster_of(
            node_object("a", cpu="2", unschedulable=True),
            node_object("b", cpu="2"),
            pod_object("victim", cpu="2"),
            pod_object("waiting", node="", cpu="1", owners=["ReplicaSet/other"]),
        )

        landing = consider(snapshot)

        assert (landing.verdict, landing.node) == (LANDS_IF, "b")
        assert landing.conditions == ("pending pod default/waiting may be scheduled there first",)

    def test_nominated_one_holds_its_room(self) -> None:
        nominated = pod_object("waiting", node="", cpu="2", priority=100, owners=["ReplicaSet/other"])
        nominated["status"]["nominatedNodeName"] = "b"
        snapshot = cluster_of(
            node_object("a", cpu="2", unschedulable=True),
            node_object("b", cpu="2"),
            pod_object("victim", cpu="2"),
            nominated,
        )

        assert consider(snapshot).verdict is LANDS_IF

    def test_one_of_an_unknown_scheduler_is_left_out_with_a_warning(self) -> None:
        foreign = pod_object("waiting", node="", cpu="2", priority=20, scheduler="volcano", owners=["ReplicaSet/x"])
        snapshot = self.snapshot(foreign)
        prover = LandingProver(snapshot)

        landing = prover.consider(pod_named(snapshot, "victim"))

        assert landing.verdict is LANDS
        assert prover.warnings == (
            "1 pending pod is not counted as competing with replacements: scheduler volcano is not modelled",
        )

    def test_label_of_koordinator_names_its_scheduler(self) -> None:
        label = {"scheduling.koordinator.sh/scheduler-name": "volcano"}
        relabelled = pod_object("waiting", node="", cpu="2", priority=20, labels=label, owners=["ReplicaSet/x"])

        prover = LandingProver(self.snapshot(relabelled))

        assert prover.warnings == (
            "1 pending pod is not counted as competing with replacements: scheduler volcano is not modelled",
        )

    def test_one_of_a_known_scheduler_is_not_called_foreign(self) -> None:
        """It is left out for what it asks for, which has a name."""
        devices = {"koordinator.sh/gpu-core": "50", "koordinator.sh/gpu-memory-ratio": "50"}
        waiting = [pod_object(name, node="", requests=devices, owners=["ReplicaSet/x"]) for name in ("one", "two")]

        prover = LandingProver(cluster_of(node_object("a"), *waiting))

        assert prover.warnings == (
            "2 pending pods are not counted as competing with replacements:"
            " koordinator.sh/gpu resources are not modelled (DeviceShare)",
        )

    def test_replacement_without_a_node_waits_for_later_room(self) -> None:
        snapshot = cluster_of(
            node_object("a", cpu="2"),
            node_object("b", cpu="2", unschedulable=True),
            pod_object("stuck", node="b", cpu="2", priority=5, owners=["ReplicaSet/stuck"]),
            pod_object("victim", node="a", cpu="2", priority=5),
        )
        prover = LandingProver(snapshot)

        first = prover.book(pod_named(snapshot, "stuck"))
        second = prover.consider(pod_named(snapshot, "victim"))

        assert (first.verdict, second.verdict) == (NO, LANDS_IF)
        assert second.conditions == ("pending pod default/stuck+ may be scheduled there first",)

    def test_ones_that_fit_are_told_with_their_nodes(self) -> None:
        pending = (pod_object(name, node="", cpu=cpu) for name, cpu in (("fits", "1"), ("large", "9")))
        snapshot = cluster_of(node_object("a", cpu="2"), *pending)

        scheduled = list(LandingProver(snapshot).scheduled())

        assert [(pod, bound.node_name) for pod, bound in scheduled] == [(pod_named(snapshot, "fits"), "a")]

    def test_ones_of_schedulers_that_are_not_modelled_are_counted(self) -> None:
        snapshot = cluster_of(node_object("a", cpu="2"), pod_object("theirs", node="", scheduler="mine"))

        prover = LandingProver(snapshot)

        assert (list(prover.scheduled()), sum(prover.undecided.values())) == ([], 1)
