"""A grant that is taken back leaves nothing behind, whatever was granted before it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from descheduler.eviction.background import BACKGROUND_TEXT, EvictionAnswer
from descheduler.model.pod import Pod
from tests.builders import make_budget, make_node, make_pod, make_snapshot
from tests.eviction.runs import Run, bundle_of, make_run
from tests.migration.random_rounds.policies import document_of, make_policy
from tests.migration.random_rounds.worlds import make_world, snapshot_of


def random_run(seed: int) -> Run:
    """A random cluster with budgets under a random policy, whose first profile verifies landings."""
    random = Random(seed)
    world, policy = make_world(random), make_policy(random)
    profiles = tuple(replace(each, verifies_placement=each is policy.profiles[0]) for each in policy.profiles)
    policy = replace(policy, profiles=profiles, is_upstream=random.random() < 0.3)
    labels = {pod.app for pod in world.pods if pod.app}
    budgets = [
        make_budget(app, {"app": app}, namespace=namespace, disruptions_allowed=random.randint(0, 3))
        for app in sorted(labels)
        for namespace in "abc"
    ]
    snapshot = replace(snapshot_of(world), budgets=tuple(budgets))
    answers = {pod.key: EvictionAnswer(429, "not now") for pod in world.pods if random.random() < 0.1}
    return make_run(document_of(policy), snapshot, answers=answers)


def random_bundle(random: Random, run: Run) -> list[Pod]:
    pods = run.handle.view.snapshot.pods
    return random.sample(pods, k=min(len(pods), random.choice((1, 1, 2, 3))))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(25))
def test_granted_bundles_can_be_taken_back_one_by_one(seed: int) -> None:
    random, run = Random(seed), random_run(seed)
    states = [run.state()]

    with run.evictor.what_if():
        for _ in range(8):
            if run.evictor.request(bundle_of(*random_bundle(random, run))).is_accepted:
                states.append(run.state())
            assert run.state() == states[-1], "a refusal charges nothing"
        while len(states) > 1:
            states.pop()
            run.evictor.undo()
            assert run.state() == states[-1]


@pytest.mark.parametrize("seed", range(25))
def test_what_was_taken_back_is_granted_again_in_the_same_way(seed: int) -> None:
    random, run = Random(seed), random_run(seed)

    for _ in range(8):
        bundle = bundle_of(*random_bundle(random, run))
        if run.evictor.request(bundle).is_accepted:
            granted = run.state()
            run.evictor.undo()
            assert run.evictor.request(bundle).is_accepted
            assert run.state() == granted


def test_what_if_leaves_no_note_and_no_scheduler_behind() -> None:
    pods = [make_pod(name, node="a", cpu="1") for name in ("one", "two", "three")]
    snapshot = make_snapshot([make_node("a", unschedulable=True), make_node("b", cpu="2")], pods)
    run = make_run(verifying(), snapshot)

    with run.evictor.what_if():
        for pod in pods:
            run.evictor.request(bundle_of(pod))
        assert len(run.evictor.book.moves) == 2
        assert len(run.evictor.book.refusals) == 1

    book = run.evictor.book
    assert (book.moves, book.refusals, dict(book.results)) == ([], (), {})
    assert not run.evictor.landings.provers


def test_eviction_that_another_controller_would_carry_out_is_taken_back_too() -> None:
    annotations = {"descheduler.alpha.kubernetes.io/request-evict-only": ""}
    vm = make_pod("vm", annotations=annotations)
    answers = {vm.key: EvictionAnswer(429, BACKGROUND_TEXT)}
    run = make_run(verifying(), make_snapshot([make_node("a")], [vm]), answers=answers, evictions_in_background=True)
    before = run.state()

    run.evictor.request(bundle_of(vm))
    begun = run.evictor.num_background
    run.evictor.undo()

    assert begun == 1
    assert run.state() == before


def verifying() -> dict[str, object]:
    """A policy whose only profile verifies landings."""
    plugins = {"deschedule": {"enabled": ["PodLifeTime"]}, "preevictionfilter": {"enabled": ["PlacementVerification"]}}
    configs = [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}, {"name": "PlacementVerification"}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
