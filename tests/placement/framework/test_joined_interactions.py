"""What all plugins of a scheduler say together of how placed pods bear on each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import (
    BY_REQUESTS,
    CAUTIOUS,
    OWN_NODE,
    ClosingNodes,
    GatheredPods,
    Interactions,
    JoinedInteractions,
    Meetings,
    meeting_each_other,
)
from tests.builders import make_pod

PODS = [make_pod(name) for name in "abc"]


class Says:
    """Interactions of pods by their names."""

    def __init__(self, *, helped: str = "", wide: str = "", felt: str = "", pairs: Iterable[str] = ()) -> None:
        self.helped, self.wide, self.felt, self.pairs = helped, wide, felt, list(pairs)

    def can_be_helped(self, pod: Pod) -> bool:
        return pod.name in self.helped

    def is_local(self, pod: Pod) -> bool:
        return pod.name not in self.wide

    def is_felt_widely(self, pod: Pod) -> bool:
        return pod.name in self.felt

    def interact(self, first: Pod, second: Pod) -> bool:
        return first.name + second.name in self.pairs or second.name + first.name in self.pairs


def joined(
    transformers: Iterable[str] = (), settled: Iterable[str] = (), **plugins: Interactions
) -> JoinedInteractions:
    return JoinedInteractions(plugins, frozenset(transformers), frozenset(settled))


def names(found: Meetings) -> dict[str, str]:
    """Each pod with those that bear on it."""
    return {pod.name: "".join(PODS[other].name for other in found.on(place)) for place, pod in enumerate(PODS)}


def test_pod_is_helped_by_any_plugin_and_all_are_asked_where_a_transformer_helps() -> None:
    found = joined(one=Says(helped="a"), two=Says(helped="b"), three=OWN_NODE, transformers=["two"])

    assert [found.can_be_helped(pod) for pod in PODS] == [True, True, False]
    assert [found.helpers(pod) for pod in PODS] == [{"one"}, {"one", "two", "three"}, set()]


def test_pod_is_local_to_all_plugins_and_felt_by_any() -> None:
    found = joined(one=Says(wide="a", felt="b"), two=Says(wide="b"))

    assert [found.is_local(pod) for pod in PODS] == [False, False, True]
    assert [found.is_felt_widely(pod) for pod in (*PODS, PODS[1])] == [False, True, False, True]
    assert [found.reaches("one", pod) for pod in PODS] == [True, False, False]
    assert not found.reaches("unheard", PODS[0])


def test_pods_interact_by_any_plugin_that_is_asked() -> None:
    found = joined(one=Says(pairs=["ab"]), two=Says(pairs=["bc"]), three=BY_REQUESTS)

    assert [found.interact(PODS[0], other) for other in PODS] == [False, True, False]
    gathered = GatheredPods(PODS)
    assert {rule: names(meetings) for rule, meetings in found.interacting(gathered).items()} == {
        "one": {"a": "b", "b": "a", "c": ""},
        "two": {"a": "", "b": "c", "c": "b"},
    }
    assert set(found.interacting(gathered, but_for=["one"])) == {"two"}


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        pytest.param({"x": BY_REQUESTS}, ["", "", ""], id="by requests alone"),
        pytest.param({"x": OWN_NODE}, ["abc", "abc", "abc"], id="by anything on its node"),
        pytest.param({"x": CAUTIOUS}, ["abc", "abc", "abc"], id="nothing is known"),
        pytest.param({"x": ClosingNodes(lambda pod: pod.name in "ac")}, ["ac", "", "ac"], id="by what both take"),
        pytest.param(
            {"x": ClosingNodes(lambda pod: pod.name in "ab"), "y": ClosingNodes(lambda pod: pod.name in "bc")},
            ["ab", "abc", "bc"],
            id="by any of several",
        ),
    ],
)
def test_pods_close_their_node_to_others(plugins: dict[str, Any], expected: list[str]) -> None:
    assert list(names(joined(**plugins).closing(GatheredPods(PODS))).values()) == expected


def test_plugin_that_is_settled_closes_no_node() -> None:
    found = joined(x=OWN_NODE, settled=["x"])

    assert list(names(found.closing(GatheredPods(PODS))).values()) == ["", "", ""]


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        pytest.param(Says(), [False, False, False], id="all is local"),
        pytest.param(Says(wide="a"), [True, False, False], id="the pod looks at other nodes"),
        pytest.param(Says(felt="c"), [True, True, True], id="the one that ends is felt widely"),
    ],
)
def test_pod_that_ends_hinders_where_it_is_felt_or_the_other_looks_around(says: Says, expected: list[bool]) -> None:
    ending = PODS[2]

    assert [joined(x=says).hinders_while_ending(ending, pod) for pod in PODS] == expected


def test_plugin_may_tell_more_of_pods_that_end() -> None:
    class Telling(Says):
        def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
            return ending.name + pod.name == "ca"

    found = joined(x=Says(), y=Telling(felt="c"))

    assert [found.hinders_while_ending(PODS[2], pod) for pod in PODS] == [True, False, False]


def test_meetings_join_what_several_rules_say() -> None:
    found = Meetings(4, [(np.array([0, 1]), np.array([2])), (np.array([1, 3]), np.array([2, 0]))])

    assert [found.on(place).tolist() for place in range(4)] == [[1, 3], [], [0, 1, 3], []]
    assert [(a.tolist(), b.tolist()) for a, b in meeting_each_other(np.array([1, 2]))] == [([1, 2], [1, 2])]
    assert list(meeting_each_other(np.array([], dtype=np.intp))) == []
