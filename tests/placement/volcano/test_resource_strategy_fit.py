"""Plugin resource-strategy-fit (volcano.md §10.4): fuller or emptier nodes by resource, and what is scarce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.worlds import Object, group, node, owned, plugin, pods, prover_of, session, tasks_of

GPU, FOO = "nvidia.com/gpu", "example.com/foo"
LEAST, MOST = "LeastAllocated", "MostAllocated"


def _asking(only: list[Object], **more: str) -> list[Object]:
    for pod in only:
        pod["spec"]["containers"][0]["resources"]["requests"] |= {
            GPU if k == "gpu" else FOO: v for k, v in more.items()
        }
    return only


def _made(nodes: list[Object], *objects: Any, **arguments: Any) -> Session:
    tiers = [[plugin("gang"), plugin("resource-strategy-fit", arguments=arguments)]]
    return session(nodes, group("used"), group("new"), *objects, tiers=tiers)


def _scores(made: Session) -> list[float]:
    scores = made.tiers.scores(tasks_of(made)["new-0"], np.ones(len(made.cluster.table), dtype=bool))
    return [round(score, 6) for score in scores.tolist()]


def _half_used(annotations: Mapping[str, str] | None = None, **arguments: Any) -> list[float]:
    """The score of a node of 10 CPU and 100 GB, 4 CPU and 10 GB used, for a pod of 1 CPU and 10 GB."""
    used, new = (pods(job, 1, on=on, cpu=cpu, memory="10Gi") for job, on, cpu in (("used", "a", "4"), ("new", "", "1")))
    new[0]["metadata"]["annotations"] |= annotations or {}
    return _scores(_made([node("a")], used, new, **arguments))


def _weights(**weights: int) -> Mapping[str, Any]:
    """The type `MostAllocated` for all of these."""
    return {name: {"type": MOST, "weight": weight} for name, weight in weights.items()}


@pytest.mark.parametrize(
    ("arguments", "score"),
    [
        pytest.param({}, (0.5 + 0.8) / 2 * 1000, id="cpu and memory of emptier nodes, weight 10, without arguments"),
        pytest.param({"resources": _weights(cpu=1)}, 500, id="a resource without a strategy does not count"),
        pytest.param({"resources": _weights(cpu=3, memory=1)}, (3 * 0.5 + 0.2) / 4 * 1000, id="the mean by weight"),
        pytest.param(
            {"resources": {"cpu": {"type": MOST, "weight": 1}, "memory": {"type": LEAST, "weight": 1}}},
            (0.5 + 0.8) / 2 * 1000,
            id="types differ by resource",
        ),
        pytest.param({"resourceStrategyFitWeight": 2, "resources": _weights(memory=1)}, 40, id="another weight"),
        pytest.param({"resourceStrategyFitWeight": 0}, 0, id="a weight of 0 ends it"),
        pytest.param({"resourceStrategyFitWeight": -1, "resources": _weights(cpu=1)}, 500, id="one below 0 is 10"),
        pytest.param({"resources": _weights(cpu=0, memory=-2)}, 350, id="weights of resources below 1 are 1"),
        pytest.param({"resources": {"memory": {"type": "Other"}}}, 800, id="any other type is LeastAllocated"),
    ],
)
def test_score_is_the_mean_over_resources(arguments: Mapping[str, Any], score: float) -> None:
    assert _half_used(**arguments) == [score]


@pytest.mark.parametrize(
    ("annotations", "score"),
    [
        pytest.param({"scoring-type": MOST, "weight": '{"cpu": 2, "memory": 1}'}, 400, id="type and weights"),
        pytest.param({"scoring-type": MOST}, 350, id="the type alone"),
        pytest.param({"weight": '{"memory": 1}'}, 800, id="weights alone: what is not named does not count"),
        pytest.param({"scoring-type": MOST, "weight": "cpu"}, 0, id="weights that cannot be read"),
        pytest.param({"weight": '{"cpu": 1.5}'}, 0, id="weights that are no integers"),
        pytest.param({"weight": "[" * 9999}, 0, id="weights that are nested too deeply"),
        pytest.param({"weight": '{"cpu": ' + "9" * 99 + "}"}, 0, id="weights above all numbers of Go"),
        pytest.param({"weight": '{"cpu": 9223372036854775807}'}, 500, id="the largest number of Go"),
        pytest.param({"weight": '{"cpu": 9223372036854775808}'}, 0, id="one more than that"),
        pytest.param({"scoring-type": "Other", "weight": '{"cpu": 0, "memory": 5}'}, 800, id="an unknown type"),
    ],
)
def test_annotations_of_the_pod_come_first(annotations: Mapping[str, str], score: float) -> None:
    stated = {f"volcano.sh/resource-strategy-{key}": text for key, text in annotations.items()}

    assert _half_used(stated) == [score]


@pytest.mark.parametrize(
    ("names", "score"),
    [
        pytest.param(("nvidia.com/*",), 200, id="the beginning of a name"),
        pytest.param((GPU, "nvidia.com/*"), 800, id="the name itself comes first"),
        pytest.param(("nvidia.com/g*", "nvidia.com/*"), 800, id="the longest beginning comes first"),
        pytest.param(("*",), 0, id="no star alone"),
        pytest.param(("*/gpu",), 0, id="no star at the beginning"),
        pytest.param(("nvidia.*/g*",), 0, id="no two stars"),
    ],
)
def test_a_star_stands_for_the_end_of_a_name(names: tuple[str, ...], score: float) -> None:
    types = (LEAST, MOST) if len(names) > 1 else (MOST,)
    resources = {name: {"type": kind, "weight": 1} for name, kind in zip(names, types, strict=True)}

    made = _made([node("a", **{GPU: "10"})], _asking(pods("new", 1), gpu="2"), resources=resources)

    assert _scores(made) == [score]


def test_pod_that_fills_a_node_gets_the_whole_score() -> None:
    made = _made([node("a", cpu="5")], pods("used", 1, on="a", cpu="4"), pods("new", 1), resources=_weights(cpu=1))

    assert _scores(made) == [1000]


def test_resource_that_a_node_lacks_gives_it_nothing_and_one_that_is_short_takes_all() -> None:
    nodes = [node("a", **{GPU: "10"}), node("b", **{FOO: "5"}), node("c", **{GPU: "10", FOO: "4"})]
    resources = {GPU: {"type": MOST, "weight": 1}, FOO: {"type": LEAST, "weight": 2}}

    made = _made(nodes, _asking(pods("new", 1), gpu="4", foo="5"), resources=resources)

    assert _scores(made) == [133.333333, 0, 0]


def test_resource_of_weight_zero_does_not_count_where_it_is_short() -> None:
    (new,) = pods("new", 1, cpu="2", memory="50Gi")
    new["metadata"]["annotations"]["volcano.sh/resource-strategy-weight"] = '{"cpu": 0, "memory": 1}'

    assert _scores(_made([node("a", cpu="1")], new)) == [500]


_MIXED = {"a": {}, "b": {GPU: "8"}, "c": {GPU: "8", FOO: "1"}}


@pytest.mark.parametrize(
    ("asked", "policy", "scores"),
    [
        pytest.param({}, {"weight": 2}, [200, 100, 0], id="nodes without what is scarce score higher"),
        pytest.param({}, {"weight": 2, "resourceWeight": {GPU: 3}}, [200, 50, 0], id="by weight"),
        pytest.param({}, {"weight": 2, "resourceWeight": {GPU: -3}}, [200, 100, 0], id="weights below 0 are 1"),
        pytest.param({}, {"weight": 2, "resourceWeight": {GPU: 0}}, [200, 200, 0], id="a weight of 0 does not count"),
        pytest.param({"gpu": "1"}, {"weight": 1}, [0, 50, 0], id="nodes that lack what is asked for score 0"),
        pytest.param({}, {}, [0, 0, 0], id="no weight, no score"),
        pytest.param({}, {"weight": 2, "enable": False}, [0, 0, 0], id="not enabled"),
        pytest.param({}, {"weight": 2, "resources": " , "}, [0, 0, 0], id="nothing is named"),
    ],
)
def test_sra_spares_nodes_with_scarce_resources(
    asked: Mapping[str, str], policy: Mapping[str, Any], scores: list[float]
) -> None:
    nodes = [node(name, **offers) for name, offers in _MIXED.items()]
    sra = {"enable": True, "resources": f"{GPU}, {FOO}", **policy}

    made = _made(nodes, _asking(pods("new", 1), **asked), resourceStrategyFitWeight=0, sra=sra)

    assert _scores(made) == scores


@pytest.mark.parametrize(
    ("asked", "policy", "refused"),
    [
        pytest.param({}, {}, [False, True, False], id="too little would be idle beside what is scarce"),
        pytest.param({"gpu": "1"}, {}, [False, False, False], id="the pod asks for it"),
        pytest.param({}, {f"{GPU}.cpu": 1.0}, [False, False, False], id="another rate of CPU"),
        pytest.param({}, {f"{GPU}.cpu": 1.0, f"{GPU}.memory": 110}, [False, True, True], id="another rate of memory"),
        pytest.param({}, {f"{GPU}.cpu": -4}, [False, False, False], id="a rate below 0 is 1"),
        pytest.param({}, {f"{GPU}.cpu": 3.75}, [False, False, False], id="just enough CPU"),
        pytest.param({}, {f"{GPU}.cpu": 0.0, f"{GPU}.memory": 0}, [False] * 3, id="a rate of 0 keeps nothing"),
    ],
)
def test_proportional_keeps_cpu_and_memory_beside_scarce_resources(
    asked: Mapping[str, str], policy: Mapping[str, float], refused: list[bool]
) -> None:
    """4 GPUs are idle on b and 1 on c, for each of which 4 CPU have to stay idle."""
    nodes = [node(name, cpu="16", **offers) for name, offers in (("a", {}), ("b", {GPU: "4"}), ("c", {GPU: "4"}))]
    used = _asking(pods("used", 1, on="c"), gpu="3")
    rates = {f"{GPU}.cpu": 4.0, f"{GPU}.memory": 1, **policy}
    proportional = {"enable": True, "resources": GPU, "resourceProportion": rates}

    made = _made(nodes, used, _asking(pods("new", 1), **asked), proportional=proportional)

    codes = made.tiers.codes(tasks_of(made)["new-0"], len(nodes))
    assert (codes == 3).tolist() == refused


@pytest.mark.parametrize(
    ("rates", "memory", "is_refused"),
    [
        pytest.param({"cpu": 0.0}, "5G", False, id="just enough memory"),
        pytest.param({"cpu": 0.0}, "4999M", True, id="too little memory"),
        pytest.param({"cpu": 0.0, "memory": 0.0}, "4999M", False, id="a rate of 0 keeps none"),
        pytest.param({}, "5G", True, id="too little CPU"),
    ],
)
def test_node_keeps_a_million_bytes_and_a_thousandth_of_a_cpu_for_each_thousandth_of_what_is_scarce(
    rates: Mapping[str, float], memory: str, is_refused: bool
) -> None:
    """Of 4 CPU the pod leaves 3, beside 4 GPUs."""
    stated = {f"{GPU}.{name}": rate for name, rate in rates.items()}
    proportional = {"enable": True, "resources": GPU, "resourceProportion": stated}
    offered = node("a", cpu="4", memory=memory, **{GPU: "4"})

    made = _made([offered], pods("new", 1, memory="1G"), proportional=proportional)

    assert (made.tiers.codes(tasks_of(made)["new-0"], 1).tolist() == [3]) is is_refused


@pytest.mark.parametrize(
    "keeping",
    [
        plugin("resource-strategy-fit", arguments={"proportional": {"enable": True, "resources": GPU}}),
        plugin("predicates", arguments={"predicate.ProportionalEnable": True, "predicate.resources": GPU}),
    ],
)
def test_node_that_does_not_state_the_scarce_resource_is_open_to_preemption(keeping: Object) -> None:
    """What it lacks of CPU others may make room for; a refusal of the plugin is for good."""
    nodes = [node("a", cpu="1"), node("b", cpu="1", **{GPU: "0"})]

    made = session(*nodes, group("new"), pods("new", 1, cpu="2"), tiers=[["gang", keeping]])

    assert made.tiers.codes(tasks_of(made)["new-0"], 2).tolist() == [0, 3]


@pytest.mark.parametrize(
    ("arguments", "verdict", "lands_on"),
    [
        pytest.param({"resources": _weights(cpu=1)}, LandingVerdict.LIKELY, "full", id="by its score"),
        pytest.param(
            {"proportional": {"enable": True, "resources": GPU, "resourceProportion": {f"{GPU}.cpu": 9}}},
            LandingVerdict.NO,
            None,
            id="refused on every node",
        ),
    ],
)
def test_a_landing_is_likely_at_best(
    arguments: Mapping[str, Any], verdict: LandingVerdict, lands_on: str | None
) -> None:
    old = {**node("old"), "spec": {"unschedulable": True}}
    document = {
        "actions": "enqueue, allocate",
        "tiers": [
            {"plugins": [plugin("gang"), plugin("predicates"), plugin("resource-strategy-fit", arguments=arguments)]}
        ],
    }
    nodes = [old, node("empty", **{GPU: "2"}), node("full", **{GPU: "2"})]
    groups = group("used", phase="Running"), group("new", phase="Running")
    prover, found = prover_of(
        *nodes, *groups, pods("used", 1, on="full"), owned(pods("new", 1, on="old")), configuration=document
    )

    landing = prover.book(found["new-0"])

    assert (landing.verdict, landing.node) == (verdict, lands_on)
