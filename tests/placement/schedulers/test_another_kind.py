"""A scheduler of another kind, in one module and one row: queues in an order of their own, and gangs placed whole.

It runs no scheduling plugin and has no profile. It looks at room alone, and takes the last node that has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.document import Document, find, to_plain
from descheduler.explanation.explaining import settings_for
from descheduler.explanation.subjects.pod import PodExplanation
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
)
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler_model import DoubtOf, SchedulerModel, Unit
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.configured import with_profiles_for
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.schedulers.table import SCHEDULERS
from descheduler.placement.shadow.node_table import PODS_ROW
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, ShadowCluster
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot, node_object, pod_object
from tests.explanation.questions import explained

NAME = "queue-scheduler"
QUEUE, GANG = "queue", "gang"


class QueueScheduler(SchedulerModel):
    """Tries the queues in the order of its configuration, and binds the pods of a gang together."""

    name = NAME

    def __init__(self, cluster: ShadowCluster, queues: Sequence[str] | None) -> None:
        self.cluster = cluster
        self._queues = queues or ()

    def doubt(self, pod: Pod, about: DoubtOf = DoubtOf.LANDING) -> str:
        """That its queue is unknown."""
        queue = pod.labels.get(QUEUE, "")
        is_known = about is not DoubtOf.LANDING or not self._queues or queue in self._queues
        return "" if is_known else f"queue {queue!r} is unknown"

    def order(self, units: Iterable[Unit]) -> Sequence[Unit]:
        """Queue by queue, whatever the priorities."""
        return sorted(units, key=lambda unit: [*self._queues].index(unit.pods[0].labels.get(QUEUE, self._queues[0])))

    def unit_of(self, pod: Pod) -> str:
        """Its gang."""
        return pod.labels.get(GANG, "")

    def permits(self, cycle: Cycle, node: int) -> tuple[Obstacle, ...]:
        """Nobody is bound before all of the gang have room."""
        del node
        company = cycle.company
        if company is None or len(company.held) + 1 == len(company.pods):
            return ()
        return (Obstacle(NAME, Code.UNSCHEDULABLE, ("gang is not complete",)),)

    def evaluate(self, pod: Pod, company: Company | None = None) -> PodEvaluation:
        """The nodes that have room."""
        table, placement_class = self.cluster.table, self.cluster.placement_class(pod)
        feasible = table.requested[PODS_ROW] < table.allocatable[PODS_ROW]
        for row, amount in placement_class.demand.amounts:
            feasible &= table.requested[row] + amount <= table.allocatable[row]
        return PodEvaluation(
            self,
            Cycle(placement_class, self.cluster, company=company),
            bits={NAME: np.where(feasible, 0, 1).astype(np.uint32)},
            feasible=feasible,
        )

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        """The last one."""
        if not evaluation.fits:
            return None
        last = int(evaluation.nodes[-1])
        return Choice(last, 0, (last,), None, is_sampled=False)

    def obstacle(self, plugin: str, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """There is one."""
        del cycle, node, bits
        return Obstacle(plugin, Code.UNSCHEDULABLE, ("node(s) had no room in the queue",))


def _read(
    document: Document, version: KubeVersion, plugins: Mapping[str, Any], made_of: Mapping[str, KubeVersion]
) -> SchedulerConfiguration:
    del made_of
    queues = to_plain(find(document.root, ("queues",)))
    assert isinstance(queues, list)
    return replace(default_configuration(version, plugins), others={NAME: tuple(map(str, queues))})


ROW = SchedulerRow(name=NAME, document_kind="QueueConfiguration", read=_read, model=QueueScheduler)
ROWS = {**SCHEDULERS, NAME: ROW}


@pytest.fixture
def _row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEDULERS, NAME, ROW)


def prover_of(nodes: Sequence[str], pods: Iterable[Pod], queues: Sequence[str] = ("gold", "lead")) -> LandingProver:
    """A prover over nodes with 4 CPUs each."""
    configuration = replace(default_configuration(KubeVersion(), PLUGINS), others={NAME: tuple(queues)})
    snapshot = make_snapshot([make_node(name, cpu="4") for name in nodes], pods)
    return LandingProver(snapshot, configuration=configuration, schedulers=ROWS)


def queued(name: str, queue: str = "gold", *, node: str = "", cpu: str = "2", priority: int = 0, gang: str = "") -> Pod:
    """A pod of the scheduler."""
    labels = {QUEUE: queue, **({GANG: gang} if gang else {})}
    return make_pod(name, node=node, cpu=cpu, scheduler=NAME, labels=labels, priority=priority)


def test_queues_are_tried_in_their_own_order_and_not_by_priority() -> None:
    pods = [queued("urgent", "lead", cpu="3", priority=9), queued("calm", "gold", cpu="3")]

    prover = prover_of(["a"], pods)

    assert [(pod.name, node) for pod, node in prover.pending_nodes()] == [("calm", "a")]
    assert [pod.name for pod in prover.still_pending()] == ["urgent"]


@pytest.mark.parametrize(
    ("cpu", "waiting"),
    [
        pytest.param("2", [], id="all of a gang have room"),
        pytest.param("3", ["m-0", "m-1", "m-2"], id="one of a gang has none, so the others are not bound either"),
    ],
)
def test_a_gang_is_placed_whole(cpu: str, waiting: Sequence[str]) -> None:
    members = [queued(f"m-{number}", cpu=cpu, gang="g") for number in range(3)]

    prover = prover_of(["a", "b"], members)

    assert [pod.name for pod in prover.still_pending()] == waiting


def test_a_replacement_lands_where_its_own_scheduler_puts_it() -> None:
    victim = queued("web", node="a")
    other = make_pod("other", node="a", cpu="2")
    prover = prover_of(["a", "b", "c"], [victim, other])

    landing = prover.consider(victim)

    assert (landing.verdict, landing.node, landing.ties) == (LandingVerdict.LANDS, "c", ("c",))
    assert prover.consider(other).ties == ("b", "c")


def test_pods_of_an_unknown_queue_are_in_doubt() -> None:
    landing = prover_of(["a", "b"], [victim := queued("web", "tin", node="a")]).consider(victim)

    assert (landing.verdict, landing.cause) == (LandingVerdict.LIKELY, "queue 'tin' is unknown")


def test_a_batch_is_proved_with_what_the_model_claims() -> None:
    victims = [queued(f"web-{number}", node="a") for number in range(2)]

    verdict = prover_of(["a", "b", "c"], victims).prove(victims)

    assert verdict.verdict in (LandingVerdict.LANDS, LandingVerdict.LANDS_IF)
    assert {landing.node for landing in verdict.landings} == {"c"}


def test_a_name_of_the_table_needs_no_document() -> None:
    configuration = with_profiles_for([NAME], default_configuration(KubeVersion(), PLUGINS), PLUGINS, ROWS)

    assert dict(configuration.others) == {NAME: None}


def _policy(folder: Path, **args: object) -> dict[str, object]:
    file = folder / "queues.yaml"
    file.write_text(json.dumps({"kind": "QueueConfiguration", "queues": ["gold", "lead"]}))
    verification = {"schedulerConfigFile": str(file), **args}
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": {"nodeFit": False}},
                    {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
                    {"name": "PlacementVerification", "args": {**verification, "requireGain": False}},
                ],
                "plugins": {
                    "deschedule": {"enabled": ["PodLifeTime"]},
                    "preevictionfilter": {"enabled": ["PlacementVerification"]},
                },
            }
        ],
    }


@pytest.mark.usefixtures("_row")
def test_a_verified_dry_run_goes_by_the_row(tmp_path: Path) -> None:
    pods = [queued("web", node="a"), queued("tin", "tin", node="a"), queued("huge", node="a", cpu="9")]
    snapshot = make_snapshot([make_node(name, cpu="4") for name in ("a", "b")], pods)

    decisions = decide(load_policy(_policy(tmp_path), REGISTRY), snapshot, now=NOW)

    (move,) = decisions.moves
    assert move.landing is not None
    assert (move.pod.name, move.landing.node) == ("web", "b")
    assert {refusal.pod.name: refusal.verdict.code for refusal in decisions.refusals} == {
        "huge": "NoLanding",
        "tin": "UnknownLanding",
    }


@pytest.mark.usefixtures("_row")
def test_explain_asks_the_scheduler_of_the_row(tmp_path: Path) -> None:
    policy = load_policy(_policy(tmp_path), REGISTRY)
    objects = [
        node_object("a", cpu="4"),
        pod_object("big", node="", cpu="9", phase="Pending", labels={QUEUE: "gold"}, scheduler=NAME),
    ]

    found = explained(PodExplanation, "pod", "default/big", objects, settings=settings_for(policy))

    assert found.placement is not None
    assert found.placement.scheduler == NAME
    assert found.placement.summary == "0/1 nodes are available: 1 node(s) had no room in the queue"
