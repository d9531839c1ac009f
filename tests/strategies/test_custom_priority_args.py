"""Arguments of CustomPriority: what Koordinator accepts and refuses, and when."""

from __future__ import annotations

import pytest

from descheduler.strategies.custom_priority import CustomPriorityArgs
from tests.policy.builders import koordinator, load, messages, warnings

LEVELS = "[{name: a, nodeSelector: {}}, {name: b, nodeSelector: {}}]"
BAD = "{matchExpressions: [{key: a, operator: Invalid}]}"


def enabled(args: str) -> str:
    """A document that runs CustomPriority with `args`, on line 6 from column 12."""
    return koordinator(
        f"profiles:\n- plugins: {{balance: {{enabled: [{{name: CustomPriority}}]}}}}\n  pluginConfig:\n"
        f"  - {{args: {args}, name: CustomPriority}}\n"
    )


def test_defaults_are_those_of_koordinator() -> None:
    args = load(enabled(f"{{evictionOrder: {LEVELS}}}")).profiles[0].args["CustomPriority"]

    assert isinstance(args, CustomPriorityArgs)
    assert (args.node_fit, args.mode, args.auto_cordon, args.paused, args.dry_run) == (
        True,
        "BestEffort",
        False,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param("{evictionOrder: [{name: a, nodeSelector: {}}]}", "has 1 of at least 2 levels", id="one level"),
        pytest.param("{evictionOrder: [{nodeSelector: {}}, {name: b, nodeSelector: {}}]}", "is missing", id="no name"),
        pytest.param(
            "{evictionOrder: [{name: a, nodeSelector: {}}, {name: a, nodeSelector: {}}]}",
            "'a' is the name of an earlier level too",
            id="a name twice",
        ),
        pytest.param(
            "{evictionOrder: [{name: a, nodeSelector: {}}, {name: b}]}",
            "is missing; select the nodes of the level",
            id="a level without selector",
        ),
        pytest.param(
            f"{{evictionOrder: {LEVELS}, podSelectors: [{{name: x, selector: {BAD}}}]}}",
            "podSelectors[0].selector",
            id="an invalid pod selector",
        ),
        pytest.param(f"{{evictionOrder: {LEVELS}, order: 1}}", "unknown field", id="an unknown argument"),
    ],
)
def test_what_the_plugin_cannot_be_built_with_is_an_error(args: str, message: str) -> None:
    (found,) = messages(enabled(args))

    assert message in found


def test_enabled_without_arguments_it_lacks_its_levels() -> None:
    text = koordinator("profiles:\n- plugins: {balance: {enabled: [{name: CustomPriority}]}}\n")

    assert messages(text) == [
        "policy.yaml:4:12: profiles[0].pluginConfig.CustomPriority.evictionOrder: "
        "has 0 of at least 2 levels, each with name and nodeSelector"
    ]


def test_arguments_of_a_plugin_that_is_not_enabled_are_decoded_only() -> None:
    text = koordinator("profiles:\n- pluginConfig: [{name: CustomPriority, args: {autoCordon: true}}]\n")

    assert messages(text) == []
    assert [warning.rpartition(": ")[2] for warning in warnings(text)] == [
        "CustomPriority is configured but not enabled in this profile"
    ]


@pytest.mark.parametrize(
    ("args", "warning"),
    [
        pytest.param("autoCordon: true", "autoCordon: has no effect: nodes are not cordoned", id="cordoning"),
        pytest.param(
            "mode: Drain", "mode: 'Drain' is not one of BestEffort, DrainNode; BestEffort is used", id="unknown mode"
        ),
    ],
)
def test_what_does_less_than_it_seems_to_is_a_warning(args: str, warning: str) -> None:
    text = enabled(f"{{evictionOrder: {LEVELS}, {args}}}")

    assert messages(text) == []
    assert [found.partition(".args.")[2] for found in warnings(text)] == [warning]


def test_a_level_with_an_invalid_selector_is_a_warning() -> None:
    text = enabled(f"{{evictionOrder: [{{name: a, nodeSelector: {BAD}}}, {{name: b, nodeSelector: {{}}}}]}}")

    (warning,) = warnings(text)

    assert messages(text) == []
    assert "evictionOrder[0].nodeSelector" in warning
    assert warning.endswith("; the level has no nodes")


def test_thresholds_of_a_level_are_read_and_unused() -> None:
    level = "{name: a, nodeSelector: {}, keepThreshold: {cpu: 30}, rejectThreshold: {cpu: 900}}"

    text = enabled(f"{{evictionOrder: [{level}, {{name: b, nodeSelector: {{}}}}]}}")

    assert (messages(text), warnings(text)) == ([], [])


def test_a_deschedulerpolicy_does_not_know_the_plugin() -> None:
    text = enabled(f"{{evictionOrder: {LEVELS}}}").replace("DeschedulerConfiguration", "DeschedulerPolicy")

    assert any("CustomPriority" in message for message in messages(text))
