"""Which pending jobs the proof expects to be bound, against sessions of Volcano over the same cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

import pytest

from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.worlds import (
    Object,
    group,
    node,
    owned,
    pods,
    priority_class,
    prover_of,
    queue,
    snapshot_of,
)
from tests.series import Part, parts

_PLUGINS = (("priority", "gang", "conformance"), ("overcommit", "drf", "predicates", "proportion", "nodeorder"))
_DOCUMENT = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [{"plugins": [{"name": name} for name in tier]} for tier in _PLUGINS],
}
_CONFIGURATION = load_volcano_configuration(_DOCUMENT, modelled=VOLCANO_PLUGINS)
_SEEDS = range(3_000)
_PARTS = parts(60)


def _objects(random: Random) -> Iterator[Object]:
    """Nodes that take one pod each, queues, and jobs that run or wait, with priorities and gangs.

    Whether a job fits does not depend on which node another one was given: every pod asks for a whole node.
    """
    for number in range(random.randint(3, 10)):
        yield node(f"n{number}", cpu="2", memory="4Gi")
    yield priority_class("high", 100)
    queues = [f"q{number}" for number in range(random.randint(1, 3))]
    for name in queues:
        yield queue(name, weight=random.randint(1, 4))
    free = iter(range(10))
    for number in range(random.randint(2, 6)):
        name, size = f"job{number}", random.randint(1, 4)
        is_running = random.random() < 0.3 and number < 2
        needs = {"minResources": {"cpu": "2"}} if random.random() < 0.5 else {}
        classes = {"priorityClassName": "high"} if random.random() < 0.3 else {}
        yield group(
            name,
            least=1 if is_running else random.randint(1, size),
            queue=random.choice(queues),
            phase="Running" if is_running else random.choice(("Pending", "Inqueue")),
            **needs,
            **classes,
        )
        on = f"n{next(free)}" if is_running else ""
        yield from owned(pods(name, 1 if is_running else size, cpu="2", on=on), owner=name)


@pytest.mark.long
@pytest.mark.parametrize("part", _PARTS)
def test_as_many_pods_of_each_job_are_bound_as_expected(part: Part) -> None:
    different = {}
    for seed in part.of(_SEEDS):
        objects = list(_objects(Random(seed)))
        expected, bound = _expected(objects), _bound(objects)
        if expected != bound:
            different[seed] = expected, bound

    assert different == {}


def _expected(objects: list[Object]) -> Mapping[str, int]:
    prover, _ = prover_of(objects, configuration=_DOCUMENT)
    return Counter(pod.name.rpartition("-")[0] for pod, _ in prover.pending_nodes())


def _bound(objects: list[Object]) -> Mapping[str, int]:
    """What one cycle binds, which begins with what the prover begins with."""
    session = Session(ShadowCluster(snapshot_of(objects)), _CONFIGURATION, plugins=VOLCANO_PLUGINS)
    run_cycle(session)
    return Counter(task.pod.name.rpartition("-")[0] for task, _ in session.binds.values())
