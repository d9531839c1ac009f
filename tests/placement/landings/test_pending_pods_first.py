"""Where a replacement lands while other pods wait for a node."""

from __future__ import annotations

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object, node_object, pod_object
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

    def test_one_of_higher_priority_has_the_only_room(self) -> None:
        snapshot = self.snapshot(pod_object("waiting", node="", cpu="2", priority=20, owners=["ReplicaSet/other"]))

        landing = consider(snapshot)

        assert (landing.verdict, landing.conditions, landing.node) == (NO, (), None)
        assert landing.message == (
            "0/1 nodes are available for the replacement pod: 1 insufficient cpu;"
            " pending pod default/waiting has a higher priority and is scheduled onto a first"
        )

    def test_one_of_the_same_priority_may_take_the_room_first(self) -> None:
        """Whoever is tried first has it, and the back-off of a pod that was tried before may end later."""
        snapshot = self.snapshot(pod_object("waiting", node="", cpu="2", priority=10, owners=["ReplicaSet/other"]))

        landing = consider(snapshot)

        assert (landing.verdict, landing.node) == (LANDS_IF, "a")
        assert landing.conditions == ("pending pod default/waiting may be scheduled there first",)

    @pytest.mark.parametrize(
        ("facts", "why"),
        [
            pytest.param({"scheduler": "volcano"}, "scheduler volcano is not modelled", id="another scheduler"),
            pytest.param(
                {"requests": {"cpu": "2", "example.com/gpu": "1"}}, "no node lists example.com/gpu", id="a resource"
            ),
        ],
    )
    def test_one_of_which_nobody_knows_whether_it_is_scheduled_may_take_the_room(self, facts: Object, why: str) -> None:
        pending = pod_object("waiting", node="", owners=["ReplicaSet/other"], **{"cpu": "2", "priority": 20, **facts})

        landing = consider(self.snapshot(pending))

        assert (landing.verdict, landing.node) == (LANDS_IF, "a")
        (condition,) = landing.conditions
        assert condition.startswith(f"pending pod default/waiting may be scheduled there first ({why}")

    @pytest.mark.parametrize(
        "facts",
        [
            pytest.param({"cpu": "3"}, id="it does not fit either"),
            pytest.param({"cpu": "2", "priority": 5}, id="it comes later"),
        ],
    )
    def test_one_of_which_nobody_knows_that_is_in_nobodys_way_changes_nothing(self, facts: Object) -> None:
        pending = pod_object(
            "waiting", node="", owners=["ReplicaSet/other"], scheduler="volcano", **{"priority": 20, **facts}
        )

        assert consider(self.snapshot(pending)).verdict is LANDS

    def test_ones_of_which_nobody_knows_close_one_node_each(self) -> None:
        """Two of them leave the third node; three may leave none."""
        nodes = [node_object(name, cpu="2") for name in "bc"]
        pending = [
            pod_object(f"waiting-{n}", node="", cpu="2", priority=20, owners=["ReplicaSet/other"], scheduler="volcano")
            for n in range(3)
        ]

        assert consider(self.snapshot(*nodes, *pending[:2])).verdict is LANDS
        assert consider(self.snapshot(*nodes, *pending)).verdict is LANDS_IF

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

    def test_one_of_lower_priority_that_fits_already_makes_a_condition(self) -> None:
        snapshot = cluster_of(
            node_object("a", cpu="2", unschedulable=True),
            node_object("b", cpu="2"),
            pod_object("victim", cpu="2", priority=10),
            pod_object("waiting", node="", cpu="1", priority=5, owners=["ReplicaSet/other"]),
        )

        landing = consider(snapshot)

        assert (landing.verdict, landing.node) == (LANDS_IF, "b")

    def test_one_of_higher_priority_that_has_another_node_makes_a_condition(self) -> None:
        """It is predicted to take the larger node, which the replacement needs, and it can go to the other one."""
        snapshot = cluster_of(
            node_object("a", cpu="8", unschedulable=True),
            node_object("large", cpu="8"),
            node_object("small", cpu="2"),
            pod_object("victim", cpu="8"),
            pod_object("waiting", node="", cpu="2", priority=20, owners=["ReplicaSet/other"]),
        )

        landing = consider(snapshot)

        assert (landing.verdict, landing.node) == (LANDS_IF, "large")
        assert landing.conditions == ("pending pod default/waiting may be scheduled there first",)

    def test_ones_of_higher_priority_have_two_rooms_and_the_replacement_the_third(self) -> None:
        waiting = [
            pod_object(name, node="", cpu="2", priority=20, owners=["ReplicaSet/other"]) for name in ("one", "two")
        ]
        nodes = [node_object(name, cpu="2") for name in ("b", "c", "d")]
        full = node_object("a", cpu="2", unschedulable=True)

        third = consider(cluster_of(full, *nodes, pod_object("victim", cpu="2"), *waiting))
        none = consider(cluster_of(full, *nodes[:2], pod_object("victim", cpu="2"), *waiting))

        assert (third.verdict, none.verdict) == (LANDS, NO)

    @pytest.mark.parametrize(
        ("priority", "verdict"),
        [
            pytest.param(-1, LANDS_IF, id="a pod of higher priority does not wait for it"),
            pytest.param(0, NO, id="pods of the same priority count it"),
            pytest.param(100, NO, id="pods of lower priority count it"),
        ],
    )
    def test_nominated_one_holds_its_room(self, priority: int, verdict: LandingVerdict) -> None:
        nominated = pod_object("waiting", node="", cpu="2", priority=priority, owners=["ReplicaSet/other"])
        nominated["status"]["nominatedNodeName"] = "b"
        snapshot = cluster_of(
            node_object("a", cpu="2", unschedulable=True),
            node_object("b", cpu="2"),
            pod_object("victim", cpu="2"),
            nominated,
        )

        assert consider(snapshot).verdict is verdict

    def test_nominated_one_is_named_with_its_node(self) -> None:
        nominated = pod_object("waiting", node="", cpu="2", priority=100, owners=["ReplicaSet/other"])
        nominated["status"]["nominatedNodeName"] = "b"
        snapshot = cluster_of(
            node_object("a", cpu="2", unschedulable=True),
            node_object("b", cpu="2"),
            pod_object("victim", cpu="2"),
            nominated,
        )

        landing = consider(snapshot)

        assert landing.message.endswith("; the room on b is held for pending pod default/waiting (nominatedNodeName)")

    def test_nominated_one_holds_its_node_though_another_would_take_it(self) -> None:
        nominated = pod_object("waiting", node="", cpu="2", priority=100, owners=["ReplicaSet/other"])
        nominated["status"]["nominatedNodeName"] = "b"
        snapshot = cluster_of(
            node_object("a", cpu="2", unschedulable=True),
            node_object("b", cpu="2"),
            node_object("c", cpu="2"),
            pod_object("victim", cpu="2", node_selector={"kubernetes.io/hostname": "b"}),
            nominated,
        )

        assert consider(snapshot).verdict is NO

    def test_one_of_an_unknown_scheduler_is_told_in_a_warning(self) -> None:
        foreign = pod_object("waiting", node="", cpu="2", priority=20, scheduler="volcano", owners=["ReplicaSet/x"])
        snapshot = self.snapshot(foreign)
        prover = LandingProver(snapshot)

        landing = prover.consider(pod_named(snapshot, "victim"))

        assert landing.verdict is LANDS_IF
        assert prover.warnings == (
            "it is unknown whether 1 pending pod is scheduled before replacement pods:"
            " scheduler volcano is not modelled",
        )

    def test_label_of_koordinator_names_its_scheduler(self) -> None:
        label = {"scheduling.koordinator.sh/scheduler-name": "volcano"}
        relabelled = pod_object("waiting", node="", cpu="2", priority=20, labels=label, owners=["ReplicaSet/x"])

        prover = LandingProver(self.snapshot(relabelled))

        assert prover.warnings == (
            "it is unknown whether 1 pending pod is scheduled before replacement pods:"
            " scheduler volcano is not modelled",
        )

    def test_one_of_a_known_scheduler_is_not_called_foreign(self) -> None:
        """It is left out for what it asks for, which has a name."""
        devices = {"koordinator.sh/gpu-core": "50", "koordinator.sh/gpu-memory-ratio": "50"}
        waiting = [pod_object(name, node="", requests=devices, owners=["ReplicaSet/x"]) for name in ("one", "two")]

        prover = LandingProver(cluster_of(node_object("a"), *waiting))

        assert prover.warnings == (
            "it is unknown whether 2 pending pods are scheduled before replacement pods:"
            " scheduler default-scheduler does not check koordinator.sh/gpu resources (DeviceShare)",
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
