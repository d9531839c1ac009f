"""Which pods of a plan the plugins still select, where a limit or a fault keeps them from asking for all."""

from __future__ import annotations

from msgspec.structs import replace

from descheduler.cycle.applying.selection import Reselection
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from descheduler.report.plan.file import ClusterIdentity, make_plan_file
from descheduler.strategies.framework import StrategyError
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot

TAINTS, PLANNER = "RemovePodsViolatingNodeTaints", "MigrationPlanner"
SNAPSHOT = make_snapshot(
    [make_node("a", taints=["gone=soon:NoSchedule"]), make_node("b")], [make_pod(name) for name in ("p1", "p2", "p3")]
)


def policy(**top: object) -> Object:
    profile = {
        "name": "p",
        "pluginConfig": [{"name": TAINTS}],
        "plugins": {"deschedule": {"enabled": [TAINTS]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}


def plan(document: Object) -> Decisions:
    """The plan to evict all three."""
    return decide(load_policy(document, REGISTRY), SNAPSHOT, now=NOW)


def against(selection: Reselection, document: Object | None = None) -> list[tuple[str, str]]:
    """Name of each pod of the plan that is not selected, and why; the plan is by another policy if that is given."""
    planned = plan(document or policy())
    moves, file = planned.leaving, make_plan_file(planned, ClusterIdentity(server="", uid=""))
    return [(uid.removeprefix("default-"), why) for uid, why in selection.against(moves, file)]


def selection_of(document: Object, registry: Registry = REGISTRY) -> Reselection:
    again = decide_again(SNAPSHOT, now=NOW, setting=RunSetting(registry=registry))
    return Reselection(load_policy(document, REGISTRY), registry, again)


def planner_policy() -> Object:
    """A policy whose planner repairs what the strategy finds."""
    args = {"objectives": [{"repairViolations": {"strategies": [TAINTS]}}], "workLimit": 1}
    profile = {
        "name": "p",
        "pluginConfig": [{"name": TAINTS}, {"name": PLANNER, "args": args}],
        "plugins": {"balance": {"enabled": [PLANNER]}},
    }
    return {**policy(), "profiles": [profile]}


def test_plan_of_a_plugin_that_searches_is_selected_as_it_was_written() -> None:
    assert against(selection_of(planner_policy()), planner_policy()) == []


def test_plugin_that_searches_and_is_in_the_policy_no_more_is_named() -> None:
    why = f"the policy has no plugin {PLANNER} in profile p"

    assert against(selection_of(policy()), planner_policy()) == [(name, why) for name in ("p1", "p2", "p3")]


def test_pods_that_a_limit_keeps_a_plugin_from_asking_for_are_selected() -> None:
    """That they are not evicted for the limit is said when the moves are judged."""
    assert against(selection_of(policy(maxNoOfPodsToEvictTotal=1))) == []


def test_plugin_that_fails_selects_nothing_and_is_named() -> None:
    def fail(*_: object) -> object:
        raise StrategyError("no metrics")

    selection = selection_of(policy(), {**REGISTRY, TAINTS: replace(REGISTRY[TAINTS], factory=fail)})

    assert against(selection) == [(name, f"plugin {TAINTS} failed: no metrics") for name in ("p1", "p2", "p3")]
    assert [each.verdict.reason for each in selection.refusals] == [Reason.NOT_SELECTED] * 3


def test_plugin_of_a_package_that_fails_is_said_to_have_failed_once() -> None:
    def fail(*_: object) -> object:
        raise KeyError("node")

    selection = selection_of(policy(), {**REGISTRY, TAINTS: replace(REGISTRY[TAINTS], factory=fail)})

    lead = f"plugin {TAINTS} failed: KeyError at tests/cycle/test_selection.py:"
    assert [message.rstrip("0123456789") for _, message in against(selection)] == [lead] * 3


def test_pod_that_a_filter_protects_has_the_reason_of_the_filter() -> None:
    config = [{"name": TAINTS}, {"name": "DefaultEvictor", "args": {"minPodAge": "5h"}}]
    document = policy()
    document["profiles"][0]["pluginConfig"] = config

    selection = selection_of(document)

    assert {name for name, _ in against(selection)} == {"p1", "p2", "p3"}
    assert {each.verdict.reason for each in selection.refusals} == {Reason.TOO_YOUNG}
