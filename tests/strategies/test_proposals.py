"""Strategies that propose: what they would ask for, without anything being booked."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial
from random import Random

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.default_evictor.default_evictor import DefaultEvictor
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, refuse
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.policy.load import load_policy
from descheduler.strategies.proposals import ProposalRecorder, propose
from tests.bench.policies import STRATEGIES, policy_of
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot, required_node_affinity
from tests.eviction.runs import Run, make_run
from tests.migration.random_rounds.worlds import make_world, snapshot_of

AFFINITY = "RemovePodsViolatingNodeAffinity"


def handle_of(run: Run, plugin: str) -> StrategyHandle:
    """What `plugin` of the first profile is handed."""
    handle, profile = run.handle, run.handle.policy.profiles[0]
    filters = [DefaultEvictor(profile.args["DefaultEvictor"], handle)]  # type: ignore[arg-type] # by the table
    evictor = PluginEvictor(
        run.evictor, profile=profile.name, plugin=plugin, filters=filters, pre_eviction_filters=filters
    )
    return StrategyHandle(handle.policy, handle.view, handle.node_fit, handle.now, evictor)


def proposed(run: Run, plugin: str, *, set_aside: Container[PodIdentity] = ()) -> list[Candidate]:
    """What `plugin` proposes for all nodes."""
    build = partial(REGISTRY[plugin].factory, run.handle.policy.profiles[0].args[plugin])
    handle, nodes = handle_of(run, plugin), run.handle.view.snapshot.nodes
    return propose(build, handle, nodes, set_aside=set_aside)  # type: ignore[arg-type] # by the table


def old_pods(policy: Object, pods: Sequence[Pod]) -> Run:
    """A policy that finds all pods too old."""
    return make_run(policy, make_snapshot([make_node("a"), make_node("b")], pods))


def policy_with(**limits: int) -> Object:
    """PodLifeTime within limits."""
    configs = [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}}}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **limits}


def test_candidates_come_with_the_sentence_of_the_strategy() -> None:
    run = old_pods(policy_with(), [make_pod("old", age=3600)])

    (candidate,) = proposed(run, "PodLifeTime")

    assert (candidate.pod.name, candidate.reason) == ("old", "1 h old (maxPodLifeTimeSeconds: 60)")


def test_proposal_books_and_notes_nothing() -> None:
    run = old_pods(policy_with(maxNoOfPodsToEvictPerNode=1), [make_pod("one"), make_pod("two")])
    before = run.state()

    candidates = proposed(run, "PodLifeTime")

    book = run.evictor.book
    assert [candidate.pod.name for candidate in candidates] == ["one", "two"]
    assert run.state() == before
    assert (book.moves, book.refusals, dict(book.results)) == ([], (), {})


def test_limits_do_not_end_a_proposal() -> None:
    run = old_pods(policy_with(maxNoOfPodsToEvictTotal=1), [make_pod(name) for name in ("one", "two", "three")])

    assert len(proposed(run, "PodLifeTime")) == 3


def test_pods_that_are_set_aside_are_not_proposed() -> None:
    pods = [make_pod("one"), make_pod("two")]

    candidates = proposed(old_pods(policy_with(), pods), "PodLifeTime", set_aside={identity_of(pods[0])})

    assert [candidate.pod.name for candidate in candidates] == ["two"]


def test_a_pod_for_which_no_node_has_room_is_proposed_all_the_same() -> None:
    configs = [{"name": AFFINITY, "args": {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": {"deschedule": {"enabled": [AFFINITY]}}}
    policy: Object = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    nodes = [make_node("a"), make_node("ssd", cpu="1", labels={"disk": "ssd"})]
    pods = [
        make_pod("db", cpu="1", affinity=required_node_affinity("disk", "ssd")),
        make_pod("full", cpu="1", node="ssd"),
    ]

    candidates = proposed(make_run(policy, make_snapshot(nodes, pods)), AFFINITY)

    assert [candidate.pod.name for candidate in candidates] == ["db"]


@pytest.mark.parametrize("plugin", STRATEGIES)
@pytest.mark.parametrize("seed", [3, 7, 11])
def test_what_is_proposed_is_what_a_run_evicts(plugin: str, seed: int) -> None:
    snapshot = snapshot_of(make_world(Random(seed)))
    policy = policy_of([plugin], node_fit=False)

    candidates = proposed(make_run(policy, snapshot), plugin)

    decided = decide(
        load_policy(policy, REGISTRY),
        snapshot,
        now=NOW,
        setting=RunSetting(processed_nodes=snapshot.nodes),
        this_round=Round(most_assessed=0),
    )
    assert [candidate.pod.name for candidate in candidates] == [move.pod.name for move in decided.leaving]


@pytest.mark.parametrize(
    ("why", "reason", "selected"),
    [
        pytest.param(Reason.NO_NODE_FITS, "is old", ["one"], id="no node has room for it"),
        pytest.param(Reason.NO_NODE_FITS, "", [], id="nothing says why it is to leave"),
        pytest.param(Reason.BARE_POD, "is old", [], id="it stays for another reason"),
    ],
)
def test_pod_that_a_strategy_keeps_is_proposed_where_it_lacks_room_alone(
    why: Reason, reason: str, selected: list[str]
) -> None:
    pod = make_pod("one")
    recorder = ProposalRecorder(handle_of(old_pods(policy_with(), [pod]), "PodLifeTime"), frozenset())

    recorder.keep(pod, refuse(why, "it stays"), reason)

    assert [candidate.pod.name for candidate in recorder.selected.values()] == selected


def test_what_a_strategy_only_tries_is_not_proposed() -> None:
    one, two = make_pod("one"), make_pod("two")
    recorder = ProposalRecorder(handle_of(old_pods(policy_with(), [one, two]), "PodLifeTime"), frozenset())

    recorder.request_all([Candidate(one, "is old")])
    with recorder.what_if():
        recorder.request_all([Candidate(one, "again"), Candidate(two, "is old")])

    assert list(recorder.selected.values()) == [Candidate(one, "is old")]
