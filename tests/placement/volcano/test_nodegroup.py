"""Plugin nodegroup (volcano.md §9.4): the groups of nodes that the affinity of a queue names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.worlds import Object, group, node, owned, plugin, pods, prover_of, queue, session, tasks_of

_GROUPS = ("fast", "slow", "old", "")
_REQUIRED, _PREFERRED = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))


def _nodes() -> list[Object]:
    """A node of each group, and one of none."""
    labels = {name: {"volcano.sh/nodegroup-name": name} if name else {} for name in _GROUPS}
    made = {name: node(name or "none") for name in _GROUPS}
    return [{**made[name], "metadata": {**made[name]["metadata"], "labels": labels[name]}} for name in _GROUPS]


def _queue(affinity: Mapping[str, Sequence[str]], anti: Mapping[str, Sequence[str]] | None = None) -> Object:
    return queue("research", affinity={"nodeGroupAffinity": affinity, "nodeGroupAntiAffinity": anti or {}})


def _pods(on: str = "", of: str = "research") -> list[Object]:
    return [
        {**pod, "metadata": {**pod["metadata"], "labels": {"volcano.sh/queue-name": of} if of else {}}}
        for pod in pods("job", 1, on=on)
    ]


def _session(of: Object, *more: Any, names: str = "research") -> Session:
    return session(_nodes(), of, group("job", queue="research"), _pods(of=names), *more, tiers=[["gang", "nodegroup"]])


@pytest.mark.parametrize(
    ("affinity", "anti", "taken"),
    [
        pytest.param({_REQUIRED: ["fast"]}, {}, ["fast"], id="required"),
        pytest.param({_REQUIRED: ["fast"], _PREFERRED: ["slow"]}, {}, ["fast", "slow"], id="preferred beside them"),
        pytest.param({_REQUIRED: ["fast", "old"]}, {_REQUIRED: ["old"]}, ["fast"], id="excluded"),
        pytest.param({_REQUIRED: ["fast"]}, {_PREFERRED: ["old"]}, ["fast", "old"], id="avoided groups are open"),
        pytest.param({}, {}, [], id="a queue without groups takes no node"),
    ],
)
def test_queue_takes_nodes_of_the_groups_that_it_names(
    affinity: Mapping[str, Sequence[str]], anti: Mapping[str, Sequence[str]], taken: list[str]
) -> None:
    made = _session(_queue(affinity, anti))

    (task,) = tasks_of(made).values()
    codes = made.tiers.codes(task, len(_GROUPS))

    assert [name for name, code in zip(made.cluster.table.names, codes.tolist(), strict=True) if not code] == taken


def test_task_that_names_no_queue_goes_anywhere() -> None:
    made = _session(_queue({_REQUIRED: ["fast"]}), names="")

    (task,) = tasks_of(made).values()
    assert made.tiers.codes(task, len(_GROUPS)).tolist() == [0, 0, 0, 0]


def test_required_groups_score_higher_than_preferred_ones() -> None:
    made = _session(_queue({_REQUIRED: ["fast"], _PREFERRED: ["fast", "slow"]}, {_PREFERRED: ["old"]}))

    (task,) = tasks_of(made).values()
    scores = made.tiers.scores(task, made.nodes.is_there).tolist()
    assert dict(zip(made.cluster.table.names, scores, strict=True)) == {"fast": 150, "slow": 50, "old": -1, "none": 0}


@pytest.mark.parametrize(
    ("groups", "verdict", "lands_on"),
    [
        pytest.param(["fast"], LandingVerdict.LIKELY, "fast", id="a group with room"),
        pytest.param(["slow"], LandingVerdict.NO, None, id="only the group that is left"),
    ],
)
def test_a_landing_is_refused_where_no_group_has_room_and_else_likely(
    groups: list[str], verdict: LandingVerdict, lands_on: str | None
) -> None:
    cordoned = [{**each, "spec": {"unschedulable": each["metadata"]["name"] == "slow"}} for each in _nodes()]
    document = {
        "actions": "enqueue, allocate",
        "tiers": [{"plugins": [plugin("gang"), plugin("nodegroup"), plugin("predicates")]}],
    }
    objects = (cordoned, _queue({_REQUIRED: groups}), group("job", queue="research", phase="Running"))
    prover, found = prover_of(*objects, owned(_pods(on="slow")), configuration=document)

    landing = prover.book(found["job-0"])

    assert (landing.verdict, landing.node) == (verdict, lands_on)
