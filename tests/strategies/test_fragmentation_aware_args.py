"""Arguments of FragmentationAware: what Koordinator accepts and refuses."""

from __future__ import annotations

import pytest

from descheduler.strategies.fragmentation_aware import FragmentationAwareArgs
from tests.policy.builders import koordinator, load, messages

BAD = "{matchExpressions: [{key: a, operator: Invalid}]}"


def enabled(args: str) -> str:
    """A document that runs FragmentationAware with `args`."""
    return koordinator(
        "profiles:\n- plugins: {balance: {enabled: [{name: FragmentationAware}]}}\n  pluginConfig:\n"
        f"  - {{args: {args}, name: FragmentationAware}}\n"
    )


@pytest.mark.parametrize("args", ["{}", "{resources: []}", "{nodeFit: null, imbalanceThreshold: null}"])
def test_defaults_are_those_of_koordinator(args: str) -> None:
    assert load(enabled(args)).profiles[0].args["FragmentationAware"] == FragmentationAwareArgs(
        node_fit=True, resources=("cpu", "memory"), imbalance_threshold=0.15, min_improvement_threshold=0.02
    )


def test_a_threshold_of_zero_is_kept() -> None:
    args = load(enabled("{imbalanceThreshold: 0}")).profiles[0].args["FragmentationAware"]

    assert isinstance(args, FragmentationAwareArgs)
    assert args.imbalance_threshold == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            "{resources: [cpu, cpu]}", "resources[1]: 'cpu' is given twice; keep one of them", id="a resource twice"
        ),
        pytest.param("{imbalanceThreshold: -0.1}", "imbalanceThreshold: -0.1 is below 0", id="a threshold below 0"),
        pytest.param(
            "{minImprovementThreshold: -1}", "minImprovementThreshold: -1 is below 0", id="an improvement below 0"
        ),
        pytest.param(
            "{evictableNamespaces: {include: [a], exclude: [b]}}",
            "evictableNamespaces: include and exclude are both given; keep one of them",
            id="both lists of namespaces",
        ),
        pytest.param(f"{{nodeSelector: {BAD}}}", "nodeSelector: ", id="an invalid node selector"),
        pytest.param(f"{{podSelectors: [{{selector: {BAD}}}]}}", "podSelectors[0].selector: ", id="a pod selector"),
        pytest.param("{podSelectors: [{name: a}]}", "podSelectors[0].name: unknown field", id="a named selector"),
    ],
)
def test_what_the_plugin_cannot_be_built_with_is_an_error(args: str, message: str) -> None:
    (found,) = messages(enabled(args))

    assert found.partition(".args.")[2].startswith(message)
