"""What fails about odd Koordinator clusters, or is said differently by two documents.

`python -m tests.worlds.hostile_koordinator_faults --worlds 400` asks a run and every `explain` about as many of them,
and prints those about which a document could not be made, or two documents differ.
"""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.explanation.explaining import Explanation, explain, settings_for
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.formats.render import render
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from tests.builders import NOW, Object
from tests.worlds.hostile_koordinator import hostile_world

_POLICY: Object = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerConfiguration",
    "profiles": [
        {
            "name": "main",
            "pluginConfig": [
                {
                    "name": "MigrationController",
                    "args": {
                        "skipCheckExpectedReplicas": True,
                        "maxMigratingPerNode": 50,
                        "defaultJobMode": "EvictDirectly",
                    },
                },
                {"name": "PlacementVerification", "args": {"onUnknown": "allow", "onConditional": "allow"}},
                {"name": "RemovePodsViolatingNodeReservation", "args": {"consecutiveObservations": 1}},
            ],
            "plugins": {
                "deschedule": {
                    "enabled": [
                        {"name": "RemovePodsViolatingNodeTaints"},
                        {"name": "RemovePodsViolatingNodeReservation"},
                        {"name": "RevokePodsOverElasticQuota"},
                    ]
                },
                "balance": {"disabled": [{"name": "*"}]},
            },
        }
    ],
}


def faults_of(objects: Sequence[Object]) -> list[str]:
    """What fails, or what two documents say differently; nothing where the cluster is refused as it is read."""
    policy = load_policy(_POLICY, REGISTRY)
    request = snapshot_request(policy, Landings.EXPLAINED, skip_broken=True)
    try:
        snapshot = snapshot_from_objects(objects, request)
    except SnapshotError:
        return []
    return [*_Asked(snapshot, policy).faults()]


class _Asked:
    """One cluster, and all that can be asked about it."""

    def __init__(self, snapshot: Snapshot, policy: Policy) -> None:
        self.snapshot = snapshot
        self.policy = policy
        self.settings = settings_for(policy)
        self._alone: dict[tuple[str, str], Explanation] = {}

    def faults(self) -> Iterator[str]:
        plan: list[Plan] = []
        yield from self._tried("run", lambda: plan.append(self._plan()))
        if not plan:
            return
        for pod in self.snapshot.pods:
            yield from self._tried(f"pod {pod.name}", partial(self._pod, pod.key, plan[0]))
        for subject, names in self._others().items():
            for name in names:
                yield from self._tried(f"{subject} {name!r}", partial(self._document, subject, name))
        yield from self._tried("reservations", self._reservations)
        yield from self._tried("gangs", self._gangs)
        yield from self._tried("devices", self._devices)

    def _tried(self, what: str, ask: Callable[[], Any]) -> Iterator[str]:
        try:
            found = ask()
        except Exception:
            yield f"{what}: {traceback.format_exc()}"
            return
        yield from (f"{what}: {each}" for each in found or ())

    def _others(self) -> dict[str, list[str]]:
        gangs = {f"{each.namespace}/{each.name}" for each in self.snapshot.pod_groups}
        return {
            "node": [node.name for node in self.snapshot.nodes],
            "namespace": ["default"],
            "reservation": [each.name for each in self.snapshot.reservations],
            "podgroup": sorted(gangs),
            "device": sorted(self.snapshot.devices),
            "podmigrationjob": [each.name for each in self.snapshot.migration_jobs],
            "elasticquota": [each["name"] for each in ({"name": "koordinator-default-quota"},)],
        }

    def _plan(self) -> Plan:
        plan = make_plan(decide(self.policy, self.snapshot, now=NOW))
        for output in ("table", "wide", "json", "yaml", "csv"):
            _check_text("".join(render(plan, output)), is_table=output in ("table", "wide"))
        return plan

    def _explain(self, subject: str, name: str, *, alone: bool = True) -> Any:
        if not alone:
            return self._with(self.policy, subject, name).answer
        if (subject, name) not in self._alone:
            self._alone[subject, name] = self._with(None, subject, name)
        return self._alone[subject, name].answer

    def _with(self, policy: Policy | None, subject: str, name: str) -> Explanation:
        found = explain(subject, name, self.snapshot, policy=policy, settings=self.settings, now=NOW)
        for output in ("table", "json"):
            _check_text("".join(render(found, output)), is_table=output == "table")
        return found

    def _document(self, subject: str, name: str) -> list[str]:
        if subject in ("node", "namespace"):
            self._explain(subject, name, alone=False)
        self._explain(subject, name)
        return []

    def _pod(self, key: str, plan: Plan) -> Iterator[str]:
        found = self._explain("pod", key, alone=False)
        decision, name = found.decision, key.partition("/")[2]
        move = next((each for each in plan.moves if each.pod.name == name), None)
        if (decision.outcome == "evicted") != (move is not None):
            yield f"the plan and explain differ: {decision.outcome}"
        elif move is not None and move.landing is not None:
            landing = found.landing
            if (landing.verdict, landing.node) != (move.landing.verdict, move.to_node):
                yield f"plan {move.landing.verdict} {move.to_node}, explain {landing.verdict} {landing.node}"
        refusal = next((each for each in plan.refusals if each.pod.name == name), None)
        if refusal is not None and refusal.code not in [each.code for each in decision.answers]:
            yield f"plan {refusal.code}, explain {[each.code for each in decision.answers]}"
        landing, placement = found.landing, found.placement
        # Of a replacement that is created at once the landing is that beside the terminating pod.
        is_later = landing is not None and landing.returns == "when gone" and landing.verdict == "lands"
        if is_later and placement is not None:
            best = {each.node for each in placement.ranking if each.is_best}
            if len(landing.nodes) <= 20 and landing.nodes and best and set(landing.nodes) != best:
                yield f"landing {landing.nodes}, best {sorted(best)}"

    def _reservations(self) -> Iterator[str]:
        for each in self.snapshot.reservations:
            found = self._explain("reservation", each.name)
            for row in found.resources:
                if row.free is not None and row.free != row.reserved - row.used:
                    yield f"{each.name}: {row}"
            yield from self._waits(each.name, found.waiting)

    def _waits(self, name: str, waiting: Sequence[Any]) -> Iterator[str]:
        for each in waiting:
            placement = self._explain("pod", f"{each.pod.namespace}/{each.pod.name}").placement
            if placement is None or not each.message.endswith(placement.summary):
                yield f"{name}: {each.pod.name} {each.message}"

    def _gangs(self) -> Iterator[str]:
        for pod in self.snapshot.pods:
            gang = self._explain("pod", pod.key).facts.gang
            if gang is not None and gang.name and self._explain("podgroup", gang.name).facts != gang:
                yield f"{pod.name}: {gang}"

    def _devices(self) -> Iterator[str]:
        nodes = {node.name for node in self.snapshot.nodes}
        for name in self.snapshot.devices:
            found = self._explain("device", name)
            for each in found.devices:
                for resource, total in each.total.items():
                    used = sum(user.resources.get(resource, 0) for user in each.users)
                    if each.free[resource] != max(0, total - used) and all(
                        user.resources.get(resource, 0) >= 0 for user in each.users
                    ):
                        yield f"{name}: {each}"
            for pod in found.waiting if name in nodes else ():
                placement = self._explain("pod", f"{pod.pod.namespace}/{pod.pod.name}").placement
                fits = placement is not None and name in {row.node for row in placement.ranking}
                if fits != (pod.message == "fits on the node") and not placement.score_error:
                    yield f"{name}: {pod.pod.name} {pod.message}, ranked {fits}"


def _check_text(text: str, *, is_table: bool) -> None:
    """Raises ValueError for what does not print in a table."""
    bad = [character for character in text if not (character.isprintable() or character == "\n")]
    if is_table and bad:
        raise ValueError(f"prints {bad[:3]!r}")


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    num_broken = num_faults = 0
    for seed in range(options.first, options.first + options.worlds):
        found = faults_of(hostile_world(Random(seed)))
        num_broken += bool(found)
        num_faults += len(found)
        for fault in found[:3]:
            print(f"{seed}: {fault}")
    print(f"{options.worlds} worlds, {num_broken} with {num_faults} faults")
    return 1 if num_broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
