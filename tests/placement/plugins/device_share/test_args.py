"""How DeviceShare scores devices and nodes: section 6.8 of the reference of Koordinator's behaviour."""

from __future__ import annotations

import pytest

from descheduler.model.koordinator.devices import Amounts
from descheduler.placement.plugins.device_share.args import DeviceScorer, DeviceShareArgs, Strategy
from tests.placement.plugins.device_share.worlds import CORE, MEMORY, RATIO, configured

_CARD: Amounts = {CORE: 100, RATIO: 100, MEMORY: 80}


def scorer(strategy: Strategy = "LeastAllocated", **weights: int) -> DeviceScorer:
    """A scorer with weights for `ratio` and `memory`, by default 1 for the former alone."""
    names = {"ratio": RATIO, "memory": MEMORY}
    given = {names[key]: weight for key, weight in (weights or {"ratio": 1}).items()}
    return DeviceScorer(DeviceShareArgs(strategy=strategy, weights=given))


@pytest.mark.parametrize(
    ("asked", "free", "least", "most"),
    [
        pytest.param(20, 100, 80, 20, id="part of an idle device"),
        pytest.param(20, 60, 40, 60, id="part of a device in use"),
        pytest.param(60, 60, 0, 100, id="all that is left"),
        pytest.param(61, 60, 0, 100, id="more than is left"),
        pytest.param(0, 100, 100, 0, id="nothing of an idle device"),
        pytest.param(20, 101, 0, 100, id="a device with more free than it has counts as full"),
    ],
)
def test_device_is_scored_by_what_the_pod_leaves_of_it(asked: int, free: int, least: int, most: int) -> None:
    told = ({RATIO: asked}, {RATIO: 100}, {RATIO: free})

    assert (scorer().device(*told), scorer("MostAllocated").device(*told)) == (least, most)


def test_score_is_the_weighted_mean_of_the_resources_that_the_device_has() -> None:
    asked, free = {RATIO: 50, MEMORY: 20}, {RATIO: 100, MEMORY: 80}

    assert scorer(ratio=3, memory=1).device(asked, _CARD, free) == (3 * 50 + 75) // 4
    assert scorer(ratio=3, memory=1).device(asked, {RATIO: 100}, free) == 50
    assert scorer(memory=1).device(asked, {RATIO: 100}, free) == 0


def test_node_is_scored_by_the_sum_of_its_devices() -> None:
    total = {0: _CARD, 1: _CARD, 2: {}}
    free = {0: _CARD, 1: {RATIO: 20, MEMORY: 80}, 2: {}}

    assert scorer().node({RATIO: 50}, total, free) == 35
    assert scorer("MostAllocated").node({RATIO: 50}, total, free) == 65


def test_scores_are_configured_by_strategy_and_weights() -> None:
    scoring = {"type": "MostAllocated", "resources": [{"name": RATIO, "weight": 3}, {"name": MEMORY}]}

    args = configured({"scoringStrategy": scoring}).profiles[0].args.of(DeviceShareArgs)

    assert (args.strategy, dict(args.weights)) == ("MostAllocated", {RATIO: 3, MEMORY: 1})


def test_strategy_without_resources_scores_nothing() -> None:
    args = configured({"scoringStrategy": {"type": "LeastAllocated"}}).profiles[0].args.of(DeviceShareArgs)

    assert (args.strategy, dict(args.weights)) == ("LeastAllocated", {})


def test_by_default_idle_devices_are_preferred_and_requests_for_npu_cores_are_for_a_template() -> None:
    args = configured().profiles[0].args.of(DeviceShareArgs)

    assert args == DeviceShareArgs()
    assert args.template_resources == {"huawei.com/npu-core"}


def test_resources_of_templates_are_configured() -> None:
    given = {"gpuSharedResourceTemplatesConfig": {"matchedResources": ["huawei.com/npu-cpu"]}}

    args = configured(given).profiles[0].args.of(DeviceShareArgs)

    assert args.template_resources == {"huawei.com/npu-cpu"}
