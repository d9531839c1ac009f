"""What a plan says of a run as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.run_notes import limit_notes, notes_after, shard_notes
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.shard import Shard
from descheduler.model.verdict import Reason, refuse
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move, Refusal
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_budget, make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy


def notes_of(most: int, shard: Shard) -> tuple[str, ...]:
    """The notes on a shard of a cluster with two nodes and four pods, of which `most` are to be evicted."""
    pods = [make_pod(name, node=node) for name, node in (("p", "a"), ("q", "a"), ("r", "b"), ("s", "b"))]
    snapshot = make_snapshot([make_node("a"), make_node("b")], pods, shard=shard)
    policy = load_policy(pod_life_time_policy(maxNoOfPodsToEvictTotal=most), REGISTRY)
    return shard_notes(policy, snapshot)


def test_the_whole_cluster_is_no_shard() -> None:
    assert notes_of(1, Shard()) == ()


@pytest.mark.parametrize(("most", "left"), [(2, 0), (1, 1)])
def test_a_limit_that_leaves_a_shard_nothing_is_named(most: int, left: int) -> None:
    notes = [notes_of(most, Shard(index, 2)) for index in (0, 1)]
    without = [note for _, *others in notes for note in others]

    assert len(without) == left
    assert all(note.startswith("maxNoOfPodsToEvictTotal (1) leaves shard ") for note in without)


def test_only_limits_of_the_whole_run_are_divided_among_shards() -> None:
    policy = load_policy(pod_life_time_policy(maxNoOfPodsToEvictPerNode=1), REGISTRY)
    snapshots = [make_snapshot([make_node("a"), make_node("b")], shard=Shard(index, 2)) for index in (0, 1)]

    assert [len(shard_notes(policy, snapshot)) for snapshot in snapshots] == [1, 1]


def test_what_percentages_come_to_is_said() -> None:
    """Ten pods on node a and five on node b, in one namespace."""
    pods = [make_pod(f"p{number}", node="a" if number < 10 else "b") for number in range(15)]
    limits = {
        "maxNoOfPodsToEvictTotal": "40%",
        "maxNoOfPodsToEvictPerNode": "20%",
        "maxNoOfPodsToEvictPerNamespace": "20%",
    }
    policy = load_policy(pod_life_time_policy(**limits), REGISTRY)

    assert limit_notes(policy, make_snapshot([make_node("a"), make_node("b")], pods)) == (
        "maxNoOfPodsToEvictTotal (40%) is 6 of 15 pods",
        "maxNoOfPodsToEvictPerNode (20%) is 1 to 2 pods, depending on the node",
        "maxNoOfPodsToEvictPerNamespace (20%) is 3 pods for each namespace",
    )


@pytest.mark.parametrize(
    ("number", "shares"),
    [
        pytest.param({"a": 4, "b": 4}, "1 pod for each node", id="alike nodes"),
        pytest.param({"a": 4, "b": 12}, "1 to 3 pods, depending on the node", id="another number of pods"),
        pytest.param({}, "1 pod for each node", id="no pods: at least one"),
    ],
)
def test_percentage_of_each_node_is_told_from_the_least_to_the_most(number: dict[str, int], shares: str) -> None:
    pods = [make_pod(f"{node}{index}", node=node) for node, most in number.items() for index in range(most)]
    policy = load_policy(pod_life_time_policy(maxNoOfPodsToEvictPerNode="25%"), REGISTRY)

    assert limit_notes(policy, make_snapshot([make_node("a"), make_node("b")], pods)) == (
        f"maxNoOfPodsToEvictPerNode (25%) is {shares}",
    )


def test_numbers_need_no_note() -> None:
    policy = load_policy(pod_life_time_policy(maxNoOfPodsToEvictTotal=5), REGISTRY)

    assert limit_notes(policy, make_snapshot([make_node("a")], [make_pod("p")])) == ()


def decisions(*moves: Move, refusals: Sequence[Refusal] = ()) -> Decisions:
    """A run that evicts and refuses these."""
    empty = decide(load_policy(pod_life_time_policy(), REGISTRY), make_snapshot(), now=NOW)
    return msgspec.structs.replace(empty, moves=moves, refusals=tuple(refusals))


def notes(
    *moves: Move,
    refusals: Sequence[Refusal] = (),
    policy: Mapping[str, object] | None = None,
    snapshot: Snapshot | None = None,
) -> list[str]:
    """The notes on what is evicted and refused, for a policy without MigrationController."""
    loaded = load_policy(policy or pod_life_time_policy(), REGISTRY)
    return list(notes_after(loaded, decisions(*moves, refusals=refusals), snapshot or make_snapshot()))


PLANNING = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "main",
            "pluginConfig": [{"name": "MigrationPlanner", "args": {"objectives": [{"consolidateNodes": {}}]}}],
            "plugins": {"balance": {"enabled": ["MigrationPlanner"]}},
        }
    ],
}
APP = {"app": "web"}
NEVER = make_budget("never", APP, max_unavailable=0, disruptions_allowed=0)
OPEN = make_budget("open", APP, disruptions_allowed=1)
WEB = make_pod("web", labels=APP)


def refused(pod: Pod, reason: Reason, subject: str = "") -> Refusal:
    return Refusal(pod, "main", "PodLifeTime", refuse(reason, "stays", subject), is_attempt=True)


def test_budgets_that_never_allow_an_eviction_are_named_with_the_pods_that_they_block() -> None:
    budgets = [
        make_budget(name, {"app": name}, max_unavailable=0, disruptions_allowed=0) for name in ("a", "b", "unasked")
    ]
    pods = [make_pod(f"{name}{number}", labels={"app": name}) for name in ("a", "b") for number in range(2)]
    asked = [refused(pod, Reason.DISRUPTION_BUDGET, f"default/{pod.name[0]}") for pod in pods]

    found = notes(refusals=asked, snapshot=make_snapshot(pods=pods, budgets=tuple(budgets)))

    assert found == [
        "2 PodDisruptionBudgets can never allow an eviction and block 4 pods: default/a (maxUnavailable is 0), "
        "default/b (maxUnavailable is 0); see 'descheduler explain budgets'"
    ]


NEVER_TOLD = (
    "1 PodDisruptionBudget can never allow an eviction and blocks 1 pod: default/never (maxUnavailable is 0); "
    "see 'descheduler explain budgets'"
)


@pytest.mark.parametrize(
    ("policy", "budget", "pod", "refusals", "found"),
    [
        pytest.param(None, NEVER, WEB, [("DISRUPTION_BUDGET", "default/never")], [NEVER_TOLD], id="a refused pod"),
        pytest.param(None, NEVER, WEB, [("LIMIT_REACHED", "default/never")], [], id="another reason"),
        pytest.param(None, NEVER, WEB, [("DISRUPTION_BUDGET", "default/other")], [], id="another budget"),
        pytest.param(None, NEVER, WEB, [], [], id="nobody has asked for the pod"),
        pytest.param(None, OPEN, WEB, [("DISRUPTION_BUDGET", "default/open")], [], id="a budget that may allow one"),
        pytest.param(PLANNING, NEVER, WEB, [], [NEVER_TOLD], id="a planner might ask for it"),
        pytest.param(PLANNING, OPEN, WEB, [], [], id="a planner, and a budget that may allow one"),
        pytest.param(PLANNING, NEVER, make_pod("web", labels={"app": "x"}), [], [], id="a pod without the budget"),
        pytest.param(PLANNING, NEVER, make_pod("web", labels=APP, phase="Pending"), [], [], id="a pod that is pending"),
        pytest.param(
            PLANNING, NEVER, make_pod("web", namespace="shop", labels=APP), [], [], id="a pod of another namespace"
        ),
    ],
)
def test_budget_that_never_allows_an_eviction_is_told_where_it_blocks_a_pod(
    policy: Mapping[str, object] | None,
    budget: DisruptionBudget,
    pod: Pod,
    refusals: list[tuple[str, str]],
    found: list[str],
) -> None:
    asked = [refused(pod, Reason[name], subject) for name, subject in refusals]
    snapshot = make_snapshot([make_node("a")], [pod], budgets=(budget,))

    assert notes(refusals=asked, policy=policy, snapshot=snapshot) == found


def test_budgets_are_named_up_to_a_number() -> None:
    def told(number: int) -> str:
        budgets = tuple(make_budget(f"b{index}", {"app": f"b{index}"}, max_unavailable=0) for index in range(number))
        pods = [make_pod(budget.name, labels={"app": budget.name}) for budget in budgets]
        asked = [refused(pod, Reason.DISRUPTION_BUDGET, f"default/{pod.name}") for pod in pods]
        (note,) = notes(refusals=asked, snapshot=make_snapshot(pods=pods, budgets=budgets))
        return note.partition("; see")[0]

    assert told(5).endswith("default/b4 (maxUnavailable is 0)")
    assert told(6).endswith("default/b4 (maxUnavailable is 0) and 1 other")
    assert told(7).endswith("default/b4 (maxUnavailable is 0) and 2 others")


TWO = (make_budget("one", APP, has_status=True), make_budget("two", APP, has_status=False))
TWO_TOLD = (
    "1 pod is covered by more than one PodDisruptionBudget and can never be evicted: default/one, default/two; "
    "see 'descheduler explain budgets'"
)


@pytest.mark.parametrize(
    ("policy", "budgets", "pod", "reasons", "found"),
    [
        pytest.param(None, TWO, WEB, [Reason.SEVERAL_BUDGETS], [TWO_TOLD], id="a refused pod"),
        pytest.param(None, TWO, WEB, [Reason.BARE_POD], [], id="another reason"),
        pytest.param(PLANNING, TWO, WEB, [], [TWO_TOLD], id="a planner might ask for it"),
        pytest.param(PLANNING, TWO, WEB, [Reason.SEVERAL_BUDGETS], [TWO_TOLD], id="both"),
        pytest.param(PLANNING, TWO[:1], WEB, [], [], id="one budget alone"),
        pytest.param(
            PLANNING,
            (make_budget("one", APP, has_status=False), TWO[1]),
            WEB,
            [],
            [],
            id="budgets of manifests, without a status",
        ),
        pytest.param(PLANNING, TWO, make_pod("web", labels=APP, phase="Pending"), [], [], id="a pod that is pending"),
    ],
)
def test_pod_with_several_budgets_is_told_where_somebody_asks_for_it(
    policy: Mapping[str, object] | None,
    budgets: tuple[DisruptionBudget, ...],
    pod: Pod,
    reasons: list[Reason],
    found: list[str],
) -> None:
    snapshot = make_snapshot([make_node("a")], [pod], budgets=budgets)

    assert notes(refusals=[refused(pod, reason) for reason in reasons], policy=policy, snapshot=snapshot) == found


def test_pods_with_several_budgets_are_counted() -> None:
    pods = [make_pod(name, labels=APP) for name in ("p", "q")]
    snapshot = make_snapshot([make_node("a")], pods, budgets=TWO)

    (note,) = notes(refusals=[refused(pod, Reason.SEVERAL_BUDGETS) for pod in pods], snapshot=snapshot)

    assert note.startswith("2 pods are covered by more than one PodDisruptionBudget")
