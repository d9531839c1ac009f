"""The placement engine against the live scheduler: `python -m tests.e2e.judge.predictions --worlds 25 --pods 90`.

Every candidate is predicted in the world as the scheduler left it, so that one difference does not bring others about.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import decode_pod
from tests.e2e.binaries import BinariesMissingError, resolve
from tests.e2e.judge.case import Case, generate_case
from tests.e2e.judge.judge import Judge, judging
from tests.e2e.judge.ruling import Ruling
from tests.e2e.judge.seats import SEATS
from tests.e2e.judge.world import World
from tests.e2e.kube_api import Object
from tests.e2e.pins import CONTROL_PLANE
from tests.placement.default_scheduler import default_scheduler


@dataclass(slots=True)
class Tally:
    """Counts of rulings. `faults` are those that no tie explains, each in a sentence."""

    num_rulings: int = 0
    num_landed: int = 0
    num_expected_nodes: int = 0
    num_refused: int = 0
    num_same_reasons: int = 0
    by_feature: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    other_nodes: list[str] = field(default_factory=list)
    other_reasons: list[str] = field(default_factory=list)

    @property
    def share_of_expected_nodes(self) -> float:
        """Of the pods that landed, how many are on a node that the engine ranks first; 1 without any."""
        return self.num_expected_nodes / self.num_landed if self.num_landed else 1.0

    def lines(self) -> Iterator[str]:
        """The table."""
        yield f"rulings                                  {self.num_rulings:>7,}"
        yield f"landed                                   {self.num_landed:>7,}"
        yield f"  on a node that was predicted           {self.num_expected_nodes:>7,} ({self._percent} %)"
        yield f"refused                                  {self.num_refused:>7,}"
        yield f"  with the reasons that were predicted   {self.num_same_reasons:>7,}"
        yield f"bound where the engine says no, or refused where it says lands: {len(self.faults)}"
        yield from (f"  {fault}" for fault in (*self.faults, *self.other_nodes, *self.other_reasons))

    @property
    def _percent(self) -> str:
        return f"{100 * self.share_of_expected_nodes:.2f}"


def predict_case(judge: Judge, case: Case, version: str, tally: Tally) -> None:
    """Asks the live scheduler about each candidate of `case`, predicts each, and counts."""
    rulings = judge.rule_all(case.world, [candidate.pod for candidate in case.candidates])
    engine = _Engine(case.world, KubeVersion.parse(version), judge.storage())
    for candidate, (ruling, stored) in zip(case.candidates, rulings, strict=True):
        evaluation = engine.scheduler.evaluate(decode_pod(stored))
        tally.num_rulings += 1
        tally.by_feature.update(str(feature.value) for feature in candidate.features)
        place = f"world {case.seed}, {ruling.pod}"
        if ruling.node is None:
            _count_refusal(evaluation, ruling, place, tally)
        else:
            _count_landing(evaluation, ruling.node, place, tally)
            engine.place(evaluation, stored, ruling.node)


class _Engine:
    """The engine in a world that fills up. `storage` is how claims and volumes are in the end.

    A claim that waits for its first pod is bound when that has landed. The engine assumes the binding of a pod that it
    places; that the claim has been bound since is news to it, for which it starts from the new objects.
    """

    def __init__(self, world: World, version: KubeVersion, storage: Sequence[Object]) -> None:
        self._version = version
        self._objects = {_key(obj): obj for obj in world.stored()}
        self._storage = {_key(obj): obj for obj in storage}
        self.scheduler = self._started()

    def place(self, evaluation: PodEvaluation, pod: Object, node: str) -> None:
        """Puts the pod on its node, with what that binds."""
        bound = {"apiVersion": "v1", "kind": "Pod", **pod, "spec": {**pod["spec"], "nodeName": node}}
        self._objects[_key(bound)] = bound
        volumes = pod["spec"].get("volumes", ())
        names = (
            volume["persistentVolumeClaim"]["claimName"] for volume in volumes if "persistentVolumeClaim" in volume
        )
        claims = [("PersistentVolumeClaim", pod["metadata"]["namespace"], name) for name in names]
        news = [claim for claim in claims if self._is_bound_since(claim)]
        for claim in news:
            self._objects[claim] = self._storage[claim]
            volume = ("PersistentVolume", "", self._storage[claim]["spec"]["volumeName"])
            self._objects[volume] = self._storage[volume]
        if news:
            self.scheduler = self._started()
        else:
            self.scheduler.place(evaluation, self.scheduler.cluster.table.index[node])

    def _is_bound_since(self, claim: _Key) -> bool:
        before, after = self._objects.get(claim, {}), self._storage.get(claim, {})
        return not before.get("spec", {}).get("volumeName") and bool(after.get("spec", {}).get("volumeName"))

    def _started(self) -> Scheduler:
        return default_scheduler(ShadowCluster(snapshot_from_objects(self._objects.values()), version=self._version))


_Key = tuple[str, str, str]
"""Kind, namespace and name."""


def _key(obj: Object) -> _Key:
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _count_landing(evaluation: PodEvaluation, node_name: str, place: str, tally: Tally) -> None:
    tally.num_landed += 1
    table = evaluation.cycle.cluster.table
    node = table.index[node_name]
    if not evaluation.feasible[node]:
        obstacle = evaluation.first_obstacle_on(node)
        tally.faults.append(f"{place} landed on {node_name}: {obstacle.plugin} {', '.join(obstacle.reasons)}")
        return
    choice = evaluation.choose()
    if choice is not None and node in choice.ties:
        tally.num_expected_nodes += 1
    else:
        ties = "nowhere" if choice is None else ", ".join(table.nodes[tie].name for tie in choice.ties)
        tally.other_nodes.append(f"{place} landed on {node_name}, expected {ties}")


def _count_refusal(evaluation: PodEvaluation, ruling: Ruling, place: str, tally: Tally) -> None:
    tally.num_refused += 1
    if evaluation.fits and evaluation.choose() is not None:
        tally.faults.append(f"{place} was refused: {ruling.message}")
        return
    expected = _reasons(evaluation)
    if not ruling.node_reasons or dict(ruling.node_reasons) == expected:
        tally.num_same_reasons += 1
    else:
        tally.other_reasons.append(f"{place} was refused with {dict(ruling.node_reasons)}, expected {dict(expected)}")


def _reasons(evaluation: PodEvaluation) -> Counter[str]:
    """Reason → number of nodes, as the scheduler's message counts them: the first plugin of each node."""
    found: Counter[str] = Counter()
    if not evaluation.refusals:
        for node in range(len(evaluation.cycle.cluster.table)):
            found.update(evaluation.first_obstacle_on(node).reasons)
    return found


def main() -> None:
    """Prints the table; exits 1 when a pod landed or was refused against the prediction, or over 1 % went elsewhere."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.judge.predictions", description=__doc__)
    parser.add_argument("--worlds", type=int, default=25, help="number of clusters (25)")
    parser.add_argument("--pods", type=int, default=90, help="candidates in each (90)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first cluster; the next ones follow (1)")
    options = parser.parse_args()
    seat = SEATS["kube-scheduler"]
    try:
        binaries = resolve((CONTROL_PLANE, seat.pins), say=lambda line: print(line, file=sys.stderr))
    except BinariesMissingError as error:
        sys.exit(str(error))
    tally = Tally()
    with (
        tempfile.TemporaryDirectory(prefix="descheduler-judge-") as folder,
        judging(Path(folder), binaries, seat) as judge,
    ):
        for seed in range(options.seed, options.seed + options.worlds):
            predict_case(judge, generate_case(seed, options.pods), seat.version, tally)
    print("\n".join(tally.lines()))
    if tally.faults or tally.share_of_expected_nodes < 0.99:
        sys.exit(1)


if __name__ == "__main__":
    main()
