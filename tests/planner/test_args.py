"""Arguments of MigrationPlanner that are refused or warned of: each fault gets one clear message, with the place."""

from __future__ import annotations

import pytest

from tests.policy.builders import koordinator, messages, upstream, warnings, with_args

_OBJECTIVES = "objectives: [{balanceUtilization: {targetThresholds: {cpu: 70}}}]"


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        pytest.param("disruptionCost: {gang: -3}", "disruptionCost.gang: -3 is not a number from 0 to 1000", id="cost"),
        pytest.param(
            "disruptionCost: {age: 2e3}", "disruptionCost.age: 2000 is not a number from 0 to 1000", id="high"
        ),
        pytest.param(
            "minGainPerDisruption: -0.5", "minGainPerDisruption: -0.5 is not a number from 0 to 1000", id="gain"
        ),
        pytest.param("timeLimit: 0s", "timeLimit: is not above 0", id="time"),
    ],
)
def test_number_out_of_range_is_refused(args: str, problem: str) -> None:
    (message,) = messages(with_args("MigrationPlanner", f"{{{_OBJECTIVES}, {args}}}"))

    assert message.endswith(f"pluginConfig[0].args.{problem}")


@pytest.mark.parametrize(
    ("objective", "field"),
    [("balanceUtilization", "targetThresholds"), ("consolidateNodes", "maxUtilization")],
)
@pytest.mark.parametrize("resource", ["cpus", "mem", "requests.cpu"])
def test_target_of_what_is_no_resource_of_nodes_is_refused(objective: str, field: str, resource: str) -> None:
    args = f"{{objectives: [{{{objective}: {{{field}: {{{resource}: 70}}}}}}]}}"

    (message,) = messages(with_args("MigrationPlanner", args))

    assert message.startswith("policy.yaml:")
    assert message.endswith(
        f"objectives[0].{objective}.{field}.{resource}: {resource!r} is not a resource of nodes; write cpu, memory,"
        " pods, ephemeral-storage, hugepages-SIZE, or an extended resource such as nvidia.com/gpu"
    )


@pytest.mark.parametrize("name", ["web", "/", "shop/", "/web", "shop/web/0"])
def test_name_that_is_not_a_pod_of_a_namespace_is_refused(name: str) -> None:
    (message,) = messages(with_args("MigrationPlanner", f"{{objectives: [{{makeRoom: {{for: ['{name}']}}}}]}}"))

    assert message.endswith(f"args.objectives[0].makeRoom.for[0]: {name!r} is not a pod as namespace/name")


_REPAIRING = """
        profiles:
        - name: p
          pluginConfig:
          - name: RemoveDuplicates
          - name: MigrationPlanner
            args: {objectives: [{repairViolations: {strategies: [RemoveDuplicates]}}]}
          plugins: {balance: {enabled: [%s]}}
        """


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(upstream(_REPAIRING % "MigrationPlanner, RemoveDuplicates"), id="of a DeschedulerPolicy"),
        pytest.param(
            koordinator(_REPAIRING % "{name: MigrationPlanner}, {name: RemoveDuplicates}"),
            id="of a DeschedulerConfiguration",
        ),
    ],
)
def test_strategy_that_is_enabled_beside_the_plan_for_its_pods_is_warned_of(text: str) -> None:
    assert [each for each in warnings(text) if "RemoveDuplicates" in each] == [
        "policy.yaml:10:12: profiles[0].plugins: RemoveDuplicates is enabled, and another plugin plans for the pods"
        " that it selects; remove it from plugins"
    ]


def test_strategy_that_is_only_planned_for_is_not_warned_of() -> None:
    assert warnings(upstream(_REPAIRING % "MigrationPlanner")) == []
