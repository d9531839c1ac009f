"""How limits are written in answers, and what an answer tells."""

from __future__ import annotations

import pytest

from descheduler.model.shard import Shard
from descheduler.model.verdict import (
    ACCEPTED,
    EvictionLimit,
    LimitReached,
    Reason,
    limit_reached,
    refuse,
)


@pytest.mark.parametrize(
    ("limit", "written", "scope", "message"),
    [
        pytest.param(EvictionLimit.TOTAL, 5, "", "maxNoOfPodsToEvictTotal (5) reached", id="of the whole run"),
        pytest.param(EvictionLimit.NODE, 5, "a", "maxNoOfPodsToEvictPerNode (5) reached for node a", id="of a node"),
        pytest.param(
            EvictionLimit.NAMESPACE,
            "10%",
            "shop",
            "maxNoOfPodsToEvictPerNamespace (10%: 3 of 30 pods) reached for namespace shop",
            id="a percentage of a namespace",
        ),
    ],
)
def test_limit_that_is_reached_says_its_value_and_what_it_is_for(
    limit: EvictionLimit, written: int | str, scope: str, message: str
) -> None:
    assert LimitReached.of(limit, written, scope, num_pods=30).message == message


def test_number_in_the_policy_says_nothing_of_pods() -> None:
    reached = LimitReached.of(EvictionLimit.TOTAL, 5, num_pods=30)

    assert (reached.value, reached.percentage, reached.num_pods) == (5, "", 0)


def test_shard_says_its_share_beside_the_limit() -> None:
    first, second = (
        LimitReached.of(EvictionLimit.TOTAL, written, num_pods=30, shard=Shard(0, 2)) for written in (5, "10%")
    )

    assert (first.value, first.message) == (3, "maxNoOfPodsToEvictTotal (5, 3 for shard 0 of 2) reached")
    assert (second.value, second.message) == (
        2,
        "maxNoOfPodsToEvictTotal (10%: 3 of 30 pods, 2 for shard 0 of 2) reached",
    )


def test_accepted_pod_has_no_code_and_no_limit() -> None:
    assert (ACCEPTED.is_accepted, ACCEPTED.code, ACCEPTED.limit) == (True, "", None)


def test_refusal_has_the_code_of_its_reason() -> None:
    refusal = refuse(Reason.BARE_POD, "the pod has no owner")

    assert (refusal.is_accepted, refusal.code, refusal.limit) == (False, "BarePod", None)


def test_refusal_for_a_limit_names_the_limit_and_its_object() -> None:
    refusal = limit_reached(LimitReached.of(EvictionLimit.NODE, 1, "a"))

    assert (refusal.code, refusal.limit, refusal.subject) == ("LimitReached", EvictionLimit.NODE, "a")
    assert refusal.message == "maxNoOfPodsToEvictPerNode (1) reached for node a"
