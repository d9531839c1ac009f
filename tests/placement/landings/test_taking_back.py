"""Bookings of the prover, and proofs on top of them."""

from __future__ import annotations

from random import Random

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot
from tests.migration.random_rounds.worlds import make_world, snapshot_of

CORDONED = make_node("a", unschedulable=True)
WEB = Workload("ReplicaSet", "default", "web", "replicaset-web", 2)


def victim(name: str, cpu: str) -> Pod:
    """A pod of an owner of its own on a node that takes none back."""
    return make_pod(name, node="a", cpu=cpu, owners=[f"ReplicaSet/{name}"])


@pytest.mark.parametrize("seed", range(20))
def test_bookings_that_are_taken_back_leave_the_cluster_as_it_was(seed: int) -> None:
    random = Random(seed)
    snapshot = snapshot_of(make_world(random))
    prover = LandingProver(snapshot, books_likely=True)
    for pod in snapshot.pods:  # the first questions make what follows the cluster
        prover.consider(pod)
    digests = [prover.cluster.digest()]

    for pod in random.choices(snapshot.pods, k=8):
        prover.book(pod)
        digests.append(prover.cluster.digest())
    while len(digests) > 1:
        digests.pop()
        prover.take_back()
        assert prover.cluster.digest() == digests[-1]


def test_replacement_that_found_no_node_competes_no_more_once_it_is_taken_back() -> None:
    first, second, third = (victim(name, "2") for name in ("first", "second", "third"))
    prover = LandingProver(make_snapshot([CORDONED, make_node("b", cpu="2")], [first, second, third]))

    booked = [prover.book(pod).verdict for pod in (first, second)]
    prover.take_back()
    prover.take_back()

    assert booked == [LandingVerdict.LANDS, LandingVerdict.NO]
    assert prover.book(third).verdict is LandingVerdict.LANDS


def test_proof_counts_the_book_or_leaves_it_out() -> None:
    first, second = victim("first", "2"), victim("second", "2")
    prover = LandingProver(make_snapshot([CORDONED, make_node("b", cpu="2")], [first, second]))
    prover.book(first)
    before = prover.cluster.digest()

    verdicts = prover.prove([second]).verdict, prover.prove_further([second]).verdict

    assert verdicts == (LandingVerdict.LANDS, LandingVerdict.NO)
    assert prover.cluster.digest() == before
