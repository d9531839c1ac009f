"""States of seconds, such as a pool of which a slice is still to be published: no pod is kept off for good by them."""

from __future__ import annotations

import pytest

from descheduler.placement.framework.obstacle import Code
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object, node_object, pod_object
from tests.placement.considered import LANDS, NO, UNKNOWN, consider
from tests.placement.plugins.dynamic_resources.test_replacements import (
    CORDONED,
    OWN,
    TEMPLATE,
    X_ON_A,
    B,
    pod_with_own_claim,
    world,
)
from tests.placement.plugins.dynamic_resources.worlds import (
    claim,
    claiming,
    device,
    device_class,
    request,
    scheduler_of,
    slice_of,
    template,
)
from tests.placement.workloads import pod_named

INCOMPLETE = "a pool of devices is incomplete or being updated (DynamicResources)"
ALL = template("gpus", request("r", allocationMode="All"))


def published(node: str, *devices: str, **pool: int) -> Object:
    """A slice of the pool of `node`, of generation 1 and alone in it unless `pool` says otherwise."""
    made = slice_of(node, *map(device, devices), name=f"{node}-{'-'.join(map(str, pool.values()))}", pool="p")
    made["spec"]["pool"] |= pool
    return made


ONE_OF_TWO = published("b", "x", resourceSliceCount=2)
OLD = published("b", "x", resourceSliceCount=2, generation=1)
NEW = published("c", "x", resourceSliceCount=2, generation=2)
TWICE = published("b", "x", "x")


def landing_of(*objects: Object, claims_from: Object = TEMPLATE) -> Landing:
    """Where the replacement goes of a pod whose node is cordoned."""
    return consider(world(CORDONED, B, X_ON_A, *pod_with_own_claim("victim", "a"), claims_from, *objects))


@pytest.mark.parametrize(
    ("pieces", "verdict"),
    [
        pytest.param([ONE_OF_TWO], UNKNOWN, id="incomplete"),
        pytest.param([OLD, NEW], UNKNOWN, id="an obsolete generation"),
        pytest.param([TWICE], NO, id="a device twice, which its driver has to correct"),
        pytest.param([], NO, id="none"),
    ],
)
def test_pool_that_is_not_complete_yet_leaves_the_landing_unknown(
    pieces: list[Object], verdict: LandingVerdict
) -> None:
    landing = landing_of(*pieces)

    assert (landing.verdict, landing.node) == (verdict, None)
    assert landing.cause.endswith(INCOMPLETE) == (verdict is UNKNOWN)


def test_node_that_has_another_obstacle_is_refused_whatever_its_pools_become() -> None:
    cordoned = node_object("b", unschedulable=True)

    landing = consider(world(CORDONED, cordoned, X_ON_A, ONE_OF_TWO, *pod_with_own_claim("victim", "a"), TEMPLATE))

    assert landing.verdict is NO


def test_free_device_elsewhere_is_taken_whatever_the_pool_becomes() -> None:
    landing = landing_of(ONE_OF_TWO, node_object("c"), slice_of("c", device("x")))

    assert (landing.verdict, landing.node) == (LANDS, "c")


@pytest.mark.parametrize(
    ("pieces", "verdict"),
    [
        pytest.param([ONE_OF_TWO], UNKNOWN, id="incomplete"),
        pytest.param([TWICE], NO, id="invalid"),
        pytest.param([ONE_OF_TWO, slice_of("b", device("y"), device("y"), pool="q")], NO, id="incomplete and invalid"),
    ],
)
def test_pool_that_ends_the_attempt_of_a_request_for_all_does_so_while_it_is_incomplete(
    pieces: list[Object], verdict: LandingVerdict
) -> None:
    landing = landing_of(*pieces, node_object("c"), slice_of("c", device("x")), claims_from=ALL)

    assert (landing.verdict, landing.node) == (verdict, None)


def test_answer_of_the_scheduler_is_the_same_with_and_without_a_state_of_seconds() -> None:
    """What is said of a node is what the scheduler says; that it does not last is said beside it."""
    scheduler = scheduler_of(B, ONE_OF_TWO, device_class(), claim("c", request("r")))

    evaluation = scheduler.evaluate(claiming("p", "c"))

    (found,) = evaluation.obstacles_on(0)
    assert (found.code, found.reasons, found.is_brief) == (Code.UNRESOLVABLE, ("cannot allocate all claims",), True)


def test_claim_that_is_not_made_yet_is_a_state_of_seconds() -> None:
    pod = pod_object("new", node="", phase="Pending", spec=OWN)
    snapshot = world(B, TEMPLATE, pod)

    (refusal,) = scheduler_of(B, pod).evaluate(pod_named(snapshot, "new")).refusals

    assert (refusal.code, refusal.is_brief) == (Code.UNRESOLVABLE, True)


def test_pending_pod_at_an_incomplete_pool_is_unknown_and_not_pending() -> None:
    pod = pod_object("new", node="", phase="Pending", spec=OWN)
    snapshot = world(B, TEMPLATE, ONE_OF_TWO, pod)
    prover = LandingProver(snapshot)

    assert prover.still_pending() == ()
    assert prover.pending_doubt(pod_named(snapshot, "new")).endswith(INCOMPLETE)
