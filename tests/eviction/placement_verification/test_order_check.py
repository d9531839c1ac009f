"""What is held back because of the order of the replacements stays, in profiles that verify where these land."""

from __future__ import annotations

import pytest

from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, HeldBack, OrderCheck
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from tests.builders import make_pod
from tests.eviction.checks.test_volcano_rules import profiles

ONE, TWO, THREE = (make_pod(name) for name in ("one", "two", "three"))
WAY_OUT = (
    "a later run evicts the pod if room is left for its replacement; "
    "a DeschedulerConfiguration can evict it in a later wave of the same run"
)
ORDER_DECIDES = "with this pod, the order of the replacement pods decides whether all of them can be scheduled"
NAMED = NOTHING_HELD_BACK.with_more({ONE: "two takes its node", TWO: ""})


@pytest.mark.parametrize(
    ("held_back", "staying"),
    [
        pytest.param(NOTHING_HELD_BACK, [], id="nothing"),
        pytest.param(NAMED, [ONE, TWO], id="some pods"),
        pytest.param(NAMED.with_more({THREE: "else"}), [ONE, TWO, THREE], id="and more"),
        pytest.param(NOTHING_HELD_BACK.but_for([ONE]), [TWO, THREE], id="all but one"),
        pytest.param(NAMED.but_for([ONE]), [TWO, THREE], id="one may go after all"),
        pytest.param(NAMED.but_for([THREE]), [ONE, TWO], id="another one may go"),
        pytest.param(NOTHING_HELD_BACK.but_for([]), [ONE, TWO, THREE], id="all"),
    ],
)
def test_pods_stay_that_are_held_back(held_back: HeldBack, staying: list[Pod]) -> None:
    check = OrderCheck(profiles(), held_back)
    unverified = OrderCheck(profiles(verifies=False), held_back)

    def refused(by: OrderCheck) -> list[Pod]:
        bundles = {pod.name: Bundle("p", "q", (Candidate(pod),)) for pod in (ONE, TWO, THREE)}
        return [pod for pod in (ONE, TWO, THREE) if by.verdict(bundles[pod.name]).reason is Reason.ORDER_DEPENDENT]

    assert [pod for pod in (ONE, TWO, THREE) if held_back.has(pod)] == refused(check) == staying
    assert refused(unverified) == []


@pytest.mark.parametrize(
    ("held_back", "cause"),
    [
        (NAMED, "two takes its node"),
        (NOTHING_HELD_BACK.with_more({ONE: ""}), ""),
        (NOTHING_HELD_BACK.but_for([TWO]), ""),
        (NAMED.but_for([TWO]), "two takes its node"),
    ],
)
def test_refusal_names_the_pods_in_the_way_where_they_are_known(held_back: HeldBack, cause: str) -> None:
    verdict = OrderCheck(profiles(), held_back).verdict(Bundle("p", "q", (Candidate(ONE),)))

    assert held_back.cause(ONE) == cause
    assert verdict.message == f"{cause or ORDER_DECIDES}; {WAY_OUT}"


def test_planners_are_told_that_nothing_is_left_of_what_is_held_back() -> None:
    (allowance,) = OrderCheck(profiles(), NAMED).allowances(0)
    key = allowance.key_of(ONE)
    assert key is not None

    assert allowance.key_of(THREE) is None
    assert (allowance.left(key), allowance.name_of(key)) == (
        0,
        "the order of the replacements (OrderDependentLanding)",
    )
    assert OrderCheck(profiles(), NOTHING_HELD_BACK).allowances(0) == ()
    assert OrderCheck(profiles(verifies=False), NAMED).allowances(0) == ()
