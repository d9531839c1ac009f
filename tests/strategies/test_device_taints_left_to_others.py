"""Pods on devices with a taint of effect NoExecute, which kube-controller-manager deletes."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, node_object, pod_object
from tests.placement.plugins.dynamic_resources.worlds import GPU, claim, device, request, slice_of
from tests.strategies.runs import evicted, policy_with
from tests.strategies.tainted_devices import PLUGIN, run, taint, world


def test_toleration_without_effect_leaves_the_pod_to_kube_controller_manager() -> None:
    """The scheduler takes it for any effect, and kube-controller-manager deletes the pod."""
    decisions = run(world(taint("NoExecute"), tolerations=[{"operator": "Exists"}]))

    assert [each.verdict.code for each in decisions.refusals] == ["NoExecute"]


def test_pods_that_are_left_to_kube_controller_manager_are_counted_and_named() -> None:
    decisions = run(world(taint("NoExecute")))

    (facts,), (kept,) = decisions.facts.values(), decisions.refusals
    assert facts.counts == {"taintedDevices": 1, "podsLeftToNoExecute": 1}
    assert (kept.pod.name, kept.verdict.code, kept.reason) == (
        "p",
        "NoExecute",
        f"device {GPU}/a/gpu-0 has taint broken=yes:NoExecute",
    )
    assert kept.verdict.message == (
        "kube-controller-manager deletes pods for NoExecute (effects: [NoSchedule, NoExecute] evicts them here)"
    )


def test_taint_that_counts_evicts_also_beside_one_that_is_left_to_kube_controller_manager() -> None:
    decisions = run(world(taint("NoExecute"), taint()))

    assert (evicted(decisions), [*decisions.refusals]) == (["p"], [])


def test_pods_that_are_left_are_reported_also_where_a_limit_ends_the_evictions() -> None:
    references = [{"name": "d", "resourceClaimName": "d"}]
    objects = [
        *world(taint()),
        slice_of("c", device("gpu-0", taints=[taint("NoExecute")])),
        node_object("c"),
        claim("d", request("r"), devices=["gpu-0"], node="c", consumers=["default-q"]),
        pod_object("q", node="c", spec={"resourceClaims": references}),
    ]

    decisions = decide(
        load_policy({**policy_with(PLUGIN), "maxNoOfPodsToEvictTotal": 0}, REGISTRY),
        snapshot_from_objects(objects),
        now=NOW,
    )

    assert {each.pod.name: each.verdict.code for each in decisions.refusals} == {
        "p": "LimitReached",
        "q": "NoExecute",
    }


class TestGracePeriod:
    """For how long kube-controller-manager is left to delete pods on its own."""

    @pytest.mark.parametrize(
        ("minutes_ago", "seconds", "expected"),
        [
            pytest.param(20, None, ["p"], id="the period is over"),
            pytest.param(5, None, [], id="the period is not over"),
            pytest.param(None, None, [], id="nothing says since when"),
            pytest.param(20, 300, ["p"], id="it begins when the toleration ends"),
            pytest.param(20, 900, [], id="the toleration has just ended"),
            pytest.param(20, 2**63 - 1, [], id="the toleration does not end before time does"),
        ],
    )
    def test_pod_is_evicted_after_it(self, minutes_ago: int | None, seconds: int | None, expected: list[str]) -> None:
        tolerations = (
            [] if seconds is None else [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]
        )
        added = {} if minutes_ago is None else {"timeAdded": (NOW - timedelta(minutes=minutes_ago)).isoformat()}
        objects = world(taint("NoExecute", **added), tolerations=tolerations)

        decisions = run(objects, effects=["NoExecute"], gracePeriod="10m")

        (facts,) = decisions.facts.values()
        assert evicted(decisions) == expected
        assert facts.counts["podsLeftToNoExecute"] == (0 if expected else 1)

    def test_toleration_without_end_keeps_the_pod(self) -> None:
        tolerations = [{"operator": "Exists", "effect": "NoExecute"}]
        objects = world(taint("NoExecute", timeAdded="2020-01-01T00:00:00Z"), tolerations=tolerations)

        decisions = run(objects, effects=["NoExecute"], gracePeriod="10m")

        (facts,) = decisions.facts.values()
        assert (evicted(decisions), facts.counts["podsLeftToNoExecute"]) == ([], 0)

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            ({"gracePeriod": "10m"}, "gracePeriod: has no effect without NoExecute in effects; add it there"),
            ({"gracePeriod": "-1m", "effects": ["NoExecute"]}, "gracePeriod: is negative"),
        ],
    )
    def test_period_that_means_nothing_is_refused(self, args: Object, message: str) -> None:
        with pytest.raises(PolicyError, match=re.escape(message)):
            run(world(), **args)
