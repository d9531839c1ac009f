"""Arguments of ScaleDownBinPack: what Koordinator accepts and refuses."""

from __future__ import annotations

import pytest

from descheduler.strategies.scale_down_bin_pack import ScaleDownBinPackArgs, weights_of
from tests.policy.builders import koordinator, messages, warnings

BAD = "{matchExpressions: [{key: a, operator: Invalid}]}"


def enabled(args: str) -> str:
    """A document that runs ScaleDownBinPack with `args`."""
    return koordinator(
        "profiles:\n- plugins: {balance: {enabled: [{name: ScaleDownBinPack}]}}\n  pluginConfig:\n"
        f"  - {{args: {args}, name: ScaleDownBinPack}}\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            "{strategy: Evict}", "strategy: 'Evict' is not one of CalculateOnly, EvictDirectly", id="strategy"
        ),
        pytest.param(
            "{strategy: EvictDirectly}",
            "maxPodsToEvict: is missing; strategy EvictDirectly needs it",
            id="no limit",
        ),
        pytest.param(
            "{strategy: EvictDirectly, maxPodsToEvict: 0}",
            "maxPodsToEvict: 0 is not above 0; strategy EvictDirectly needs it",
            id="a limit of zero",
        ),
        pytest.param(
            "{resourceWeights: {cpu: 0}}", "resourceWeights.cpu: 0 is not a number above 0", id="a weight of zero"
        ),
        pytest.param(
            "{evictableNamespaces: {include: [a], exclude: [b]}}",
            "evictableNamespaces: include and exclude are both given; keep one of them",
            id="both lists of namespaces",
        ),
        pytest.param(f"{{nodeSelector: {BAD}}}", "nodeSelector: ", id="an invalid node selector"),
        pytest.param(f"{{podSelectors: [{{selector: {BAD}}}]}}", "podSelectors[0].selector: ", id="a pod selector"),
        pytest.param("{dryRun: true}", "dryRun: unknown field", id="an argument that it does not have"),
    ],
)
def test_what_the_plugin_cannot_be_built_with_is_an_error(args: str, message: str) -> None:
    (found,) = messages(enabled(args))

    assert found.partition(".args.")[2].startswith(message)


def test_a_limit_is_not_needed_to_calculate() -> None:
    assert messages(enabled("{maxPodsToEvict: -1}")) == []


def test_calculating_without_effect_is_a_warning() -> None:
    message = "CalculateOnly has no effect: the annotation controller.kubernetes.io/pod-deletion-cost is not written"

    assert [found.partition(".args.")[2] for found in warnings(enabled("{}"))] == [f"strategy: {message}"]
    assert warnings(enabled("{strategy: EvictDirectly, maxPodsToEvict: 1}")) == []
    assert warnings(enabled("{paused: true}")) == []


@pytest.mark.parametrize(
    ("args", "weights"),
    [
        pytest.param(ScaleDownBinPackArgs(), {"cpu": 1.0, "memory": 1.0}, id="defaults"),
        pytest.param(ScaleDownBinPackArgs(resources=()), {"cpu": 1.0, "memory": 1.0}, id="no resources"),
        pytest.param(
            ScaleDownBinPackArgs(resources=("cpu", "pods"), resource_weights={"cpu": 2.0, "memory": 3.0}),
            {"cpu": 2.0, "memory": 3.0, "pods": 1.0},
            id="some of both",
        ),
    ],
)
def test_resources_without_weight_count_once(args: ScaleDownBinPackArgs, weights: dict[str, float]) -> None:
    assert weights_of(args) == weights
