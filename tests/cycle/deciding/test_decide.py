"""One decision: which nodes and profiles the plugins run on, in which order, and what a failure ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Operation, Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import EvictionAnswer
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.shard import Shard
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from descheduler.strategies.framework import StrategyError
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot

OLD = {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}
FAILED = {"name": "RemoveFailedPods"}
EVICTOR_ALONE = {
    "evict": {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}]},
    "filter": {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}, {"name": "PlacementVerification"}]},
}


def upstream(*plugins: str, **top: object) -> Object:
    """A DeschedulerPolicy of one profile with these `deschedule` plugins."""
    profile = {"name": "p", "pluginConfig": [OLD, FAILED], "plugins": {"deschedule": {"enabled": list(plugins)}}}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}


def koordinator(*profiles: Mapping[str, object], **top: object) -> Object:
    """A DeschedulerConfiguration of these profiles, which evict old pods by DefaultEvictor unless they say else."""
    made = [
        {
            "name": f"p{number}",
            "pluginConfig": [OLD, FAILED],
            "plugins": {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}, **EVICTOR_ALONE},
            **profile,
        }
        for number, profile in enumerate(profiles)
    ]
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": made, **top}


NODES = [make_node("a", labels={"pool": "x"}), make_node("b")]
PODS = [make_pod("on-a", node="a"), make_pod("on-b", node="b")]


def decided(
    document: Object,
    nodes: Sequence[Node] = NODES,
    pods: Sequence[Pod] = PODS,
    *,
    registry: Registry = REGISTRY,
    this_round: Round | None = None,
    **facts: Any,
) -> Decisions:
    snapshot = make_snapshot(nodes, pods)
    setting = RunSetting(registry=registry, **facts)
    return decide(load_policy(document, registry), snapshot, now=NOW, setting=setting, this_round=this_round or Round())


def evicted(decisions: Decisions) -> list[tuple[str, str]]:
    """Profile and name of each pod that leaves, in order."""
    return [(move.profile, move.pod.name) for move in decisions.moves]


@pytest.mark.parametrize(
    ("nodes", "top", "skipped"),
    [
        pytest.param(NODES, {}, "", id="two nodes"),
        pytest.param(NODES[:1], {}, "only 1 ready node matches the policy; at least 2 are required", id="one node"),
        pytest.param([], {}, "no ready node matches the policy; at least 2 are required", id="no node"),
        pytest.param(
            [NODES[0], make_node("b", ready=False)],
            {},
            "only 1 ready node matches the policy; at least 2 are required",
            id="one is not ready",
        ),
        pytest.param(
            NODES,
            {"nodeSelector": "pool=x"},
            "only 1 ready node matches nodeSelector (pool=x); at least 2 are required",
            id="one is selected",
        ),
    ],
)
def test_no_plugin_runs_on_fewer_than_two_nodes(nodes: list[Node], top: dict[str, object], skipped: str) -> None:
    decisions = decided(upstream("PodLifeTime", **top), nodes)

    assert decisions.skipped == skipped
    assert len(decisions.moves) == (0 if skipped else 2)


def test_selector_of_a_configuration_is_named_without_its_words() -> None:
    decisions = decided(koordinator({}, nodeSelector={"matchLabels": {"pool": "x"}}))

    assert decisions.skipped == "only 1 ready node matches nodeSelector; at least 2 are required"


def test_nodes_that_are_handed_over_are_processed_as_they_are() -> None:
    decisions = decided(upstream("PodLifeTime"), processed_nodes=NODES[:1])

    assert (decisions.skipped, evicted(decisions)) == ("", [("p", "on-a")])


def test_profile_has_the_nodes_that_it_selects() -> None:
    selecting = {"nodeSelector": {"matchLabels": {"pool": "x"}}}

    decisions = decided(koordinator(selecting, {}))

    assert evicted(decisions) == [("p0", "on-a"), ("p1", "on-b")]


def test_dry_profiles_come_last_as_others_must_not_count_on_their_moves() -> None:
    dry = {
        "pluginConfig": [OLD, {"name": "MigrationController", "args": {"dryRun": True, "maxMigratingPerNode": 0}}],
        "plugins": {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}},
    }

    decisions = decided(koordinator(dry, {}))

    assert evicted(decisions) == [("p1", "on-a"), ("p1", "on-b")]


def failing(error: BaseException) -> Registry:
    """The plugins, of which RemoveFailedPods fails."""

    def build(args: object, handle: object) -> object:
        raise error

    return {**REGISTRY, "RemoveFailedPods": replace(REGISTRY["RemoveFailedPods"], factory=build)}


BOTH = {
    "plugins": {"deschedule": {"enabled": [{"name": "RemoveFailedPods"}, {"name": "PodLifeTime"}]}, **EVICTOR_ALONE}
}


SECOND = {**upstream("PodLifeTime")["profiles"][0], "name": "second"}


@pytest.mark.parametrize(
    ("document", "error", "moves"),
    [
        pytest.param(
            upstream("RemoveFailedPods", "PodLifeTime"),
            StrategyError("no metrics"),
            [("p", "on-a"), ("p", "on-b")],
            id="under a DeschedulerPolicy all others run",
        ),
        pytest.param(
            {**upstream("RemoveFailedPods"), "profiles": [*upstream("RemoveFailedPods")["profiles"], SECOND]},
            StrategyError("no metrics"),
            [("second", "on-a"), ("second", "on-b")],
            id="and the profiles after it",
        ),
        pytest.param(
            koordinator(BOTH, {}),
            StrategyError("no metrics"),
            [("p0", "on-a"), ("p0", "on-b")],
            id="under a DeschedulerConfiguration those of its profile do",
        ),
        pytest.param(
            koordinator({"plugins": {"deschedule": {"enabled": [{"name": "RemoveFailedPods"}]}, **EVICTOR_ALONE}}, {}),
            StrategyError("no metrics"),
            [],
            id="and no profile after it",
        ),
        pytest.param(
            koordinator({"plugins": {"deschedule": {"enabled": [{"name": "RemoveFailedPods"}]}, **EVICTOR_ALONE}}, {}),
            KeyError("no metrics"),
            [("p1", "on-a"), ("p1", "on-b")],
            id="a fault of a package ends nothing",
        ),
    ],
)
def test_plugin_that_cannot_work_is_named_and_ends_as_much_as_its_kind_of_policy_says(
    document: Object, error: BaseException, moves: list[tuple[str, str]]
) -> None:
    decisions = decided(document, registry=failing(error))

    assert evicted(decisions) == moves
    assert [failure.plugin for failure in decisions.failures] == ["RemoveFailedPods"]


class Observer:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, str]] = []

    @contextmanager
    def plugin_run(self, profile: str, plugin: str, operation: Operation) -> Iterator[None]:
        self.told.append((profile, plugin, operation))
        yield

    def mark(self) -> int:
        return len(self.told)

    def back_to(self, mark: int) -> None:
        del self.told[mark:]

    def reordered(self, moves: Sequence[Move]) -> None:
        """Is not told of that here."""


def test_all_deschedule_plugins_run_before_all_balance_plugins() -> None:
    observer = Observer()
    both = {
        "pluginConfig": [OLD, {"name": "RemoveDuplicates"}],
        "plugins": {
            "balance": {"enabled": [{"name": "RemoveDuplicates"}]},
            "deschedule": {"enabled": [{"name": "PodLifeTime"}]},
            **EVICTOR_ALONE,
        },
    }

    decided(koordinator(both, both), this_round=Round(observer=observer))

    assert observer.told == [
        ("p0", "PodLifeTime", "deschedule"),
        ("p1", "PodLifeTime", "deschedule"),
        ("p0", "RemoveDuplicates", "balance"),
        ("p1", "RemoveDuplicates", "balance"),
    ]


def chosen(*names: str, profile: str = "p", plugin: str = "PodLifeTime", bundle: int = 0) -> list[Move]:
    """Moves that were chosen before."""
    pods = {pod.name: pod for pod in (*PODS, make_pod("gone"))}
    return [Move(pods[name], profile, plugin, "chosen", bundle=bundle) for name in names]


@pytest.mark.parametrize(
    ("moves", "names"),
    [
        pytest.param(chosen("on-b"), ["on-b"], id="one of them"),
        pytest.param(chosen("on-b", "on-a"), ["on-b", "on-a"], id="both, in their order"),
        pytest.param(chosen("gone", "on-a"), ["on-a"], id="without a pod that is gone"),
        pytest.param(chosen("on-a", plugin="RemoveFailedPods"), [], id="none of a plugin that does not run"),
        pytest.param(chosen("on-a", profile="other"), [], id="none of a profile that is not there"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_moves_that_were_chosen_are_asked_for_in_place_of_what_plugins_select(
    moves: list[Move], names: list[str]
) -> None:
    observer = Observer()

    decisions = decided(upstream("PodLifeTime"), this_round=Round(chosen=moves, observer=observer))

    assert [move.pod.name for move in decisions.moves] == names
    assert {move.reason for move in decisions.moves} <= {"chosen"}
    assert observer.told == []


@pytest.mark.parametrize(("bundle", "names"), [(0, ["on-a"]), (3, [])])
def test_chosen_moves_that_leave_together_are_asked_for_together(bundle: int, names: list[str]) -> None:
    policy = upstream("PodLifeTime", maxNoOfPodsToEvictTotal=1)

    decisions = decided(policy, this_round=Round(chosen=chosen("on-a", "on-b", bundle=bundle)))

    assert [move.pod.name for move in decisions.moves] == names


def test_chosen_move_that_a_filter_keeps_is_noted() -> None:
    bare = make_pod("bare", owners=())

    decisions = decided(
        upstream("PodLifeTime"), pods=[bare], this_round=Round(chosen=[Move(bare, "p", "PodLifeTime", "chosen")])
    )

    assert [(each.pod.name, each.verdict.reason) for each in decisions.refusals] == [("bare", Reason.BARE_POD)]


@pytest.mark.parametrize("gate", [True, False])
def test_other_controllers_carry_evictions_out_where_the_gate_is_open(gate: bool) -> None:
    pod = make_pod("vm", annotations={"descheduler.alpha.kubernetes.io/request-evict-only": ""})
    answers = {"default/vm": EvictionAnswer(429, "Eviction triggered evacuation")}

    decisions = decided(
        upstream("PodLifeTime"),
        pods=[pod],
        feature_gates={"EvictionsInBackground": gate},
        this_round=Round(answers=answers),
    )

    assert len(decisions.background) == decisions.num_background == int(gate)
    assert [each.verdict.reason for each in decisions.refusals] == ([] if gate else [Reason.API_REFUSED])


@pytest.mark.parametrize(("compatibility", "message"), [("fixed", "on any of the other ready nodes"), ("upstream", "")])
def test_koordinators_own_way_asks_the_filter_in_place_of_the_pre_eviction_filter(
    compatibility: str, message: str
) -> None:
    """DefaultEvictor looks for room on other nodes in the pre-eviction filter alone."""
    profile = {"pluginConfig": [OLD, FAILED, {"name": "DefaultEvictor", "args": {"nodeFit": True}}]}
    pods = [make_pod("huge", node="a", cpu="3"), make_pod("wide", node="b", cpu="3", age=1)]

    decisions = decided(koordinator(profile, compatibility=compatibility), pods=pods)

    assert [move.pod.name for move in decisions.moves] == ([] if message else ["huge"])
    assert all(message in each.verdict.message for each in decisions.refusals)


RACKS = [make_node(rack, labels={"rack": rack}) for rack in "abgh"]


@pytest.mark.parametrize("balances", [False, True])
def test_shard_has_its_own_nodes_and_those_of_all_where_a_plugin_counts_pods_over_all(balances: bool) -> None:
    """Of four replicas on one of four nodes three leave; one that counted on its own two nodes would let two stay."""
    shard = next(each for each in (Shard(0, 2, "rack"), Shard(1, 2, "rack")) if each.owns(RACKS[0]))
    enabled = {"balance": ["RemoveDuplicates"]} if balances else {"deschedule": ["PodLifeTime"]}
    document = upstream()
    document["profiles"][0] |= {
        "pluginConfig": [OLD, {"name": "RemoveDuplicates"}],
        "plugins": {point: {"enabled": names} for point, names in enabled.items()},
    }
    pods = [make_pod(f"p{number}", node="a", age=1 if not balances else 3600) for number in range(4)]
    snapshot = make_snapshot(RACKS, pods, shard=shard)

    decisions = decide(load_policy(document, REGISTRY), snapshot, now=NOW)

    (facts,) = decisions.facts.values()
    assert len(decisions.moves) == (3 if balances else 0)
    assert facts.why_nothing.endswith("" if balances else "; only this shard's 2 nodes are examined")
