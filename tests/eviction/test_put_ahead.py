"""What was refused for want of room is granted ahead of what took it, where all of that stays granted."""

from __future__ import annotations

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle
from descheduler.plan.moves import Move
from tests.builders import make_node, make_pod, make_snapshot
from tests.eviction.placement_verification.test_in_any_order import by_jobs
from tests.eviction.runs import Run, bundle_of, make_run

SMALL, LARGE, OTHER = (
    make_pod(name, node="source", cpu=cpu, owners=[f"ReplicaSet/{name}"], scheduler="koord-scheduler")
    for name, cpu in (("small", "1"), ("large", "3"), ("other", "3"))
)


def run_of(*rooms: int, prior: tuple[Pod, ...] = (), limit: int | None = None) -> Run:
    """A run over three pods of a closed node, and nodes of these sizes, which begins to hold places."""
    nodes = [make_node("source", cpu="16", unschedulable=True)]
    nodes += [make_node(f"n{index}", cpu=str(cpu)) for index, cpu in enumerate(rooms)]
    pods = [SMALL, LARGE, OTHER]
    workloads = [Workload("ReplicaSet", "default", pod.name, f"replicaset-{pod.name}", 10) for pod in pods]
    snapshot = make_snapshot(nodes, pods, workloads={each.uid: each for each in workloads})
    policy = by_jobs() | ({} if limit is None else {"maxNoOfPodsToEvictTotal": limit})
    run = make_run(policy, snapshot, prior_moves=[Move(pod, "p", "before") for pod in prior])
    run.evictor.hold_places()
    return run


def ask(run: Run, *pods: Pod) -> list[Reason | None]:
    """What each request is answered, one after the other."""
    return [run.evictor.request(bundle_of(pod)).reason for pod in pods]


def moved(run: Run) -> list[str]:
    return [move.pod.name for move in run.evictor.book.moves]


def refused(run: Run) -> list[tuple[str, Reason | None]]:
    return [(each.pod.name, each.verdict.reason) for each in run.evictor.book.refusals]


def landing_order(run: Run) -> list[tuple[str, str | None]]:
    """Each pod that leaves, and where its replacement lands."""
    landings = run.evictor.landings
    return [(pod.name, found.node if (found := landings.landing_of(pod)) else None) for pod, _ in landings.leaving]


@pytest.mark.parametrize(
    ("rooms", "asked", "answers", "moves"),
    [
        pytest.param((3, 1), (LARGE, SMALL), [None, None], ["large", "small"], id="nothing was refused"),
        pytest.param((1,), (LARGE,), [Reason.NO_LANDING], [], id="nothing was granted"),
        pytest.param((3, 2), (LARGE, OTHER), [None, Reason.NO_LANDING], ["large"], id="what has the room has no other"),
        pytest.param(
            (3, 3),
            (LARGE, SMALL, OTHER),
            [None, None, Reason.NO_LANDING],
            ["large", "small"],
            id="none of those that have the rooms has another",
        ),
    ],
)
def test_nothing_is_put_ahead_in_vain(
    rooms: tuple[int, ...], asked: tuple[Pod, ...], answers: list[Reason | None], moves: list[str]
) -> None:
    run = run_of(*rooms)
    assert ask(run, *asked) == answers

    assert not run.evictor.put_ahead(lambda bundle: True)
    assert moved(run) == moves


def squeezed(limit: int | None = None) -> Run:
    """The small pod has gone to the node that is the larger one, of which it leaves the large pod too little."""
    run = run_of(3, 2, limit=limit)
    first = ask(run, SMALL)
    landed = landing_order(run)
    assert (first, landed) == ([None], [("small", "n0")])
    assert ask(run, LARGE) == [Reason.NO_LANDING]
    return run


def test_refused_pod_is_put_ahead_of_the_one_that_took_its_node() -> None:
    run = squeezed()

    assert run.evictor.put_ahead(lambda bundle: True)

    assert (moved(run), refused(run)) == (["large", "small"], [])
    assert landing_order(run) == [("large", "n0"), ("small", "n1")]


def test_what_a_plugin_may_not_select_any_more_is_not_put_ahead() -> None:
    run = squeezed()

    assert not run.evictor.put_ahead(lambda bundle: False)
    assert (moved(run), refused(run)) == (["small"], [("large", Reason.NO_LANDING)])


def test_only_what_was_refused_for_want_of_room_is_asked_about() -> None:
    run, asked_about = run_of(3, 3, limit=1), list[str]()
    assert ask(run, SMALL, LARGE) == [None, Reason.LIMIT_REACHED]

    def note(bundle: Bundle) -> bool:
        asked_about.extend(pod.name for pod in bundle.pods)
        return True

    assert not run.evictor.put_ahead(note)
    assert (asked_about, moved(run)) == ([], ["small"])


def test_each_refusal_is_asked_about_once() -> None:
    run = squeezed()
    run.evictor.put_ahead(lambda bundle: False)

    assert not run.evictor.put_ahead(lambda bundle: True)


def test_places_that_are_held_are_not_passed() -> None:
    run = squeezed()
    run.evictor.hold_places()
    assert ask(run, LARGE) == [Reason.NO_LANDING]

    assert not run.evictor.put_ahead(lambda bundle: True)
    assert moved(run) == ["small"]


def test_what_is_refused_in_a_trial_is_not_remembered() -> None:
    run = run_of(3, 2)
    assert ask(run, SMALL) == [None]
    with run.evictor.what_if():
        assert ask(run, LARGE) == [Reason.NO_LANDING]

    assert not run.evictor.put_ahead(lambda bundle: True)


def test_limit_that_one_of_both_reaches_keeps_what_was_granted_first() -> None:
    run = run_of(3, 2, limit=1)
    assert ask(run, SMALL) == [None]
    assert ask(run, LARGE) == [Reason.LIMIT_REACHED]

    assert not run.evictor.put_ahead(lambda bundle: True)
    assert moved(run) == ["small"]


def test_what_earlier_rounds_have_evicted_is_not_passed() -> None:
    run = run_of(3, 2, prior=(SMALL,))
    run.evictor.end_turn(profile="p", plugin="before")
    assert ask(run, LARGE) == [Reason.NO_LANDING]

    assert not run.evictor.put_ahead(lambda bundle: True)
    assert moved(run) == ["small"]
