"""What plugins see of the cluster once everything booked has settled, from one question to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.placement_verification.gains import FollowedMove, Gains
from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod, make_snapshot

NODES = ("a", "b", "c")
RUNNING = [make_pod(f"running-{number}", node="a") for number in range(6)]
PENDING = [make_pod(f"pending-{number}", node="") for number in range(4)]
ASKED = make_pod("asked", node="c")


def snapshot() -> Snapshot:
    return make_snapshot(map(make_node, NODES), [*RUNNING, *PENDING, ASKED])


def coming(pod: Pod, node: str) -> FollowedMove:
    """What comes for `pod`, on this node."""
    return FollowedMove(pod, replace(pod, node_name=node, uid=f"{pod.uid}-new", name=f"{pod.name}-new"))


def view_of(gains: Gains) -> ClusterView:
    """The cluster as a plugin is shown it."""
    shown: list[ClusterView] = []
    gains.register(0, "any", lambda pod, arrival, view: shown.append(view) or "")  # type: ignore[func-returns-value]
    gains.selected_again(0, "any", ASKED, ASKED, ["b"])
    return shown[0]


def listed(gains: Gains) -> list[list[str]]:
    view = view_of(gains)
    return [[pod.name for pod in view.pods_on(node)] for node in NODES]


Step = tuple[int, str, Mapping[int, str], Mapping[int, str]]
NODE = st.sampled_from(NODES)
OTHERS = st.dictionaries(st.sampled_from(range(len(PENDING))), NODE)
MOVED = st.dictionaries(st.sampled_from(range(len(RUNNING))), NODE)
STEPS = st.lists(st.tuples(st.integers(0, len(RUNNING)), NODE, OTHERS, MOVED), max_size=8)


@pytest.mark.long
@given(steps=STEPS)
def test_plugins_see_what_was_followed_last_whatever_came_before(
    steps: Sequence[Step],
) -> None:
    known = {(number, node): coming(pod, node) for number, pod in enumerate(PENDING) for node in NODES}
    gains, booked = Gains(snapshot()), list[FollowedMove]()
    for number, node, others, moved in steps:
        del booked[number:]
        booked += [coming(pod, node) for pod in RUNNING[len(booked) : number]]
        first = min(moved, default=len(booked))
        later = [coming(each.pod, moved[at]) if at in moved else each for at, each in enumerate(booked)][first:]
        arrivals = [*later, *(known[pair] for pair in others.items())]

        gains.follow(booked[:first], arrivals)

        fresh = Gains(snapshot())
        fresh.follow([*booked[:first], *arrivals])
        assert listed(gains) == listed(fresh)


def test_only_what_differs_comes_anew() -> None:
    gains = Gains(snapshot())
    booked = [coming(pod, "b") for pod in RUNNING]
    others = [coming(pod, "c") for pod in PENDING]
    gains.follow(booked[:-1], others)
    view = view_of(gains)
    before = len(view.changes)

    gains.follow(booked[:-1], others)
    same = len(view.changes)
    gains.follow(booked, others)
    one_more = len(view.changes)
    gains.follow(booked, others[:-1])

    assert same == before
    assert one_more == before + 2
    # The last of the others came before the last one that is booked, which comes again.
    assert len(view.changes) == one_more + 2 + 1 + 2
