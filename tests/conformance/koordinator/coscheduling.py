"""Gangs on a live koord-scheduler: which pods were bound once nothing changed any more.

The pods of a case come and go in one shadow cluster, whose pending pods the product places. Where the members of a gang
varied between the two runs, the numbers count. There the last members of a gang may have been left waiting although
there was room: koord-scheduler had not queued them again, which it does every five minutes, and no run was observed for
so long. For the same reason a member beyond the minimum of its gang may have no message: it was not tried yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from descheduler.cluster.decoding.decode import NodeDecoder, PodDecoder
from descheduler.cluster.decoding.koordinator.pod_groups import decode_pod_group
from descheduler.cluster.decoding.wire import NodeWire, PodWire
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.koordinator.gang_settings import Gangs
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.framework.scheduling_plugin import annotations_read_by
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import koord_profile
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.placement_class import PlacementForms
from descheduler.placement.shadow.shadow_cluster import Company, ShadowCluster

_CONFIGURATION = SchedulerConfiguration((koord_profile(PLUGINS),))
_ANNOTATIONS = annotations_read_by(PLUGINS.values())
_nodes = NodeDecoder()


class _Run:
    """One case under way."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        nodes = [_nodes.decode(_as(node, NodeWire)) for node in case["nodes"]]
        groups = tuple(decode_pod_group(msgspec.json.encode(group)) for group in case["podgroups"])
        snapshot = Snapshot(nodes=tuple(sorted(nodes, key=lambda node: node.name)), pod_groups=groups)
        self._decoder = PodDecoder(annotation_keys=AnnotationKeys(_ANNOTATIONS))
        self._cluster = ShadowCluster(snapshot, reads_annotations=_ANNOTATIONS)
        forms = PlacementForms(snapshot)
        self._schedulers = Schedulers(self._cluster, _CONFIGURATION, plugins=PLUGINS)
        self._pending = self._cluster.ledger(lambda cluster: PendingPods(cluster, self._schedulers, forms))
        self._pods: dict[str, Pod] = {}
        self._gangs = Gangs((), groups)

    def create(self, pods: Iterable[Mapping[str, Any]]) -> None:
        """Pods come, and the scheduler places what it can."""
        for each in pods:
            pod = self._decoder.decode(_as(each, PodWire))
            self._pods[pod.name] = pod
            self._pending.add(pod)
        self._pending.place_all()

    def delete(self, names: Iterable[str]) -> None:
        """Pods go; nobody waits before other pods come."""
        placed = {each.pod.name: each.placed for each in self._pending.placed}
        for name in names:
            pod, where = self._pods.pop(name), placed.get(name)
            if where is None:
                self._pending.withdraw([pod])
            else:
                self._cluster.remove(where.pod, where.node)

    @property
    def bound(self) -> set[str]:
        """The pods on nodes."""
        return {each.pod.name for each in self._pending.placed if self._pods.get(each.pod.name) is each.pod}

    def is_queued(self, name: str) -> bool:
        """Whether the scheduler tries a pod that waits, beside the others of its group that wait."""
        pod = self._pods[name]
        scheduler = self._schedulers.scheduler_of(pod)
        waiting = tuple(each for each in self._pods.values() if each.name not in self.bound)
        key = scheduler.unit_of(pod)
        company = Company(tuple(each for each in waiting if scheduler.unit_of(each) == key)) if key else None
        return scheduler.evaluate(pod, company).is_queued

    def min_available(self, group: str) -> int:
        """How many pods the gang needs that the names of `group` start with; 0 for pods without a gang."""
        settings = [self._gangs.settings_for(pod) for name, pod in self._pods.items() if _group(name) == group]
        return max((each.min_available for each in settings if each is not None), default=0)

    def has_enough(self, group: str, numbers: Mapping[str, int]) -> bool:
        """Whether as many members of a gang are bound as it needs."""
        return 0 < self.min_available(group) <= numbers[group]


def check(case: Mapping[str, Any]) -> str | None:
    """What differs, None where nothing does."""
    run = _Run(case)
    for index, (step, expected) in enumerate(zip(case["steps"], case["expect"]["steps"], strict=True)):
        if step["do"] == "create":
            run.create(step["pods"])
        else:
            run.delete(step["names"])
        if expected and (difference := _difference(run, expected, varies=case.get("members_vary", False))):
            return f"step {index}: {difference}"
    return None


def _difference(run: _Run, expected: Mapping[str, Any], *, varies: bool) -> str | None:
    recorded = expected["bound_per_group"]
    numbers = dict.fromkeys(recorded, 0) | Counter(map(_group, run.bound))
    if varies:
        is_same = all(_agree(numbers[group], recorded[group], run.min_available(group)) for group in recorded)
        return None if is_same else f"bound {numbers}, recorded {recorded}"
    if run.bound != set(expected["bound"]):
        return f"bound {sorted(run.bound)}, recorded {sorted(expected['bound'])}"
    tried = {name for name, message in expected["messages"].items() if message is not None}
    queued = {name for name in expected["pending"] if run.is_queued(name) and not run.has_enough(_group(name), numbers)}
    return None if queued <= tried else f"tried {sorted(queued)}, recorded {sorted(tried)}"


def _agree(number: int, recorded: int, min_available: int) -> bool:
    """Whether the gang has as many pods, or at least enough of them and some that were not queued again."""
    return recorded == number or min_available <= recorded < number


def _group(name: str) -> str:
    return name.partition("-")[0]


def _as(value: Mapping[str, Any], kind: type[Any]) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value), type=kind)
