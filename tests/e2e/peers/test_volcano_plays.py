"""What is said of jobs of Volcano: every outcome that chance may give, and none that it cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tests.e2e.peers.volcano_landings.plays import Play, Plays
from tests.e2e.peers.volcano_landings.trial import CONFIGURATION
from tests.placement.volcano.worlds import Object, group, node, pods, priority_class, queue, renamed


def _plays(*objects: Object) -> Plays:
    return Plays([queue("default"), priority_class("high", 100), *objects], CONFIGURATION)


def _includes(plays: Plays, evicted: Collection[str], nodes: Mapping[str, str] | None = None) -> bool:
    return plays.include(Play(nodes or {}, evicted))


def test_the_last_of_any_two_pods_may_be_evicted_where_a_job_can_spare_two() -> None:
    running = [group("low", phase="Running"), *pods("low", 3, on="a")]
    waiting = [group("urgent", priorityClassName="high"), *pods("urgent", 1)]

    plays = _plays(node("a", cpu="3"), *running, *waiting)

    assert _includes(plays, {"low-1"})
    assert _includes(plays, {"low-2"})
    assert not _includes(plays, {"low-0"})
    assert not _includes(plays, {"low-1", "low-2"})
    assert not _includes(plays, ())


def test_room_of_pods_that_are_ending_goes_to_nobody() -> None:
    running = [group("low", phase="Running"), *pods("low", 2, on="a")]
    waiting = [group("urgent", priorityClassName="high"), *pods("urgent", 1)]

    plays = _plays(node("a", cpu="2"), *running, *waiting)

    assert all(play.nodes == {} for play in plays.said)


def test_equal_nodes_are_as_good_as_each_other() -> None:
    plays = _plays(node("a"), node("b"), group("job"), *pods("job", 1))

    assert plays.is_certain
    assert _includes(plays, (), {"job-0": "a"})
    assert _includes(plays, (), {"job-0": "b"})
    assert not _includes(plays, ())


def test_share_that_an_eviction_gives_back_is_used_by_the_next_cycle() -> None:
    """Half of 4 cores: the queue holds 2, so that Volcano evicts one although another node has room."""
    gated = pods("other", 1, spec={"schedulingGates": [{"name": "later"}]})
    others = [group("other", phase="Running", queue="other"), *gated, *pods("more", 1, on="a")]
    others[-1]["metadata"]["annotations"] = others[1]["metadata"]["annotations"]
    running = [group("low", phase="Running"), *pods("low", 2, on="a")]
    waiting = [group("urgent", priorityClassName="high"), *pods("urgent", 1)]

    plays = _plays(node("a", cpu="3"), node("b", cpu="1"), queue("other"), *others, *running, *waiting)

    assert all(_includes(plays, {f"low-{number}"}, {"urgent-0": "b"}) for number in range(2))
    assert not _includes(plays, ())


def test_eviction_from_a_node_that_is_passed_over_at_first_is_found() -> None:
    """The first pod gets the last share of the queue, the other one evicts; nodes with a pod on them come later."""
    nodes = [node(f"a{number}", cpu="8") for number in range(10)]
    others = [pod for at in nodes for pod in _renumbered("other", at["metadata"]["name"], cpu="5")]
    running = [pod for at in nodes for pod in _renumbered("low", at["metadata"]["name"], cpu="1")]
    groups = [group("other", phase="Running"), group("low", phase="Running", queue="full")]
    waiting = [group("urgent", least=2, priorityClassName="high", queue="full"), *pods("urgent", 2)]

    plays = _plays(*nodes, queue("full", capability={"cpu": "11"}), *groups, *others, *running, *waiting)

    bound = {"urgent-0": "a0", "urgent-1": "a1"}
    assert all(_includes(plays, {f"low-a{number}"}, bound) for number in range(10))


def _renumbered(job: str, on: str, cpu: str) -> list[Object]:
    """A pod of a job on a node, by the name of this node."""
    return [renamed(f"{job}-{on}", pods(job, 1, on=on, cpu=cpu))]


def test_pods_that_are_bound_in_the_same_step_are_evicted_whichever_they_are() -> None:
    came = Play({"new-0": "a", "new-1": "b"}, {"new-1", "old-1"})

    assert came.is_like(Play({"new-0": "b", "new-1": "a"}, {"new-0", "old-1"}))
    assert not came.is_like(Play({"new-0": "b", "new-1": "a"}, {"new-0", "old-0"}))
    assert not came.is_like(Play({"new-0": "b", "new-1": "a"}, {"new-0", "new-1", "old-1"}))
