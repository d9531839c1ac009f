"""Small random clusters of koord-scheduler with pods to evict: devices, quotas, gangs and Reservations at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN
from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL
from tests.builders import Object, node_object
from tests.placement.plugins.device_share.worlds import CORE, RATIO, device_object, gpu
from tests.placement.plugins.reservation.worlds import koord_pod, reservation_object

OLD = "old"
"""The cordoned node that all pods are on at first."""
_POLICIES = ("once-satisfied", "only-waiting", "waiting-and-running")
_PERCENTS = (0, 0, 50, 50, 100, 200)
_GANG_DOMAIN = "gang.scheduling.koordinator.sh/"


@dataclass(frozen=True)
class PodFacts:
    """A pod: cores, percent of a GPU, and the names of its quota and gang, empty for none."""

    name: str
    cpu: int
    percent: int
    quota: str
    gang: str

    def on(self, node: str) -> Object:
        """The pod on a node, or without one where that is empty."""
        labels = {POD_GROUP_LABEL: self.gang} if self.gang else {}
        labels |= {f"{QUOTA_DOMAIN}/name": self.quota} if self.quota else {}
        percent = str(self.percent)
        asked = {"cpu": str(self.cpu)} | ({CORE: percent, RATIO: percent} if self.percent else {})
        return koord_pod(self.name, labels=labels, requests=asked, node=node, owners=[f"ReplicaSet/{self.name}"])


@dataclass(frozen=True)
class Batch:
    """`nodes` has cores and GPUs of each node beside the old one; `gangs` has minimum and policy of each.

    `quotas` has how many cores each may use, all of them guaranteed. `reservations` has node, cores and policy of each.
    """

    nodes: Sequence[tuple[int, int]]
    quotas: Mapping[str, int]
    gangs: Mapping[str, tuple[int, str]]
    is_group: bool
    reservations: Sequence[tuple[int, int, bool, str]]
    pods: Sequence[PodFacts]
    leaving: Sequence[PodFacts]

    def objects(self) -> list[Object]:
        """The cluster without its pods."""
        found = [node_object(OLD, cpu="100", unschedulable=True)]
        for index, (cpu, num_gpus) in enumerate(self.nodes):
            found.append(node_object(f"n{index}", cpu=str(cpu), allocatable=_gpu_room(num_gpus)))
            found.append(device_object(f"n{index}", *map(gpu, range(num_gpus))))
        found += [_quota(name, cpu) for name, cpu in self.quotas.items()]
        found += [self._pod_group(name) for name in self.gangs]
        return found + [
            reservation_object(f"r{index}", node=f"n{node}", cpu=str(cpu), allocateOnce=once, allocatePolicy=policy)
            for index, (node, cpu, once, policy) in enumerate(self.reservations)
        ]

    def unit_of(self, pod: PodFacts) -> str:
        """Whom the pod is tried with; itself where it is in no gang."""
        return f"group {'' if self.is_group else pod.gang}" if pod.gang else pod.name

    def _pod_group(self, name: str) -> Object:
        minimum, policy = self.gangs[name]
        annotations = {f"{_GANG_DOMAIN}match-policy": policy}
        if self.is_group:
            annotations[f"{_GANG_DOMAIN}groups"] = json.dumps([f"default/{each}" for each in self.gangs])
        return {
            "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default", "annotations": annotations},
            "spec": {"minMember": minimum},
        }


def make_batch(seed: int) -> Batch:
    """A random batch; each of devices, quotas, gangs and Reservations is in a good share. A group has one policy."""
    draw = Random(seed)
    nodes = [(draw.randint(1, 5), draw.randint(0, 2)) for _ in range(draw.randint(1, 3))]
    quotas = {name: draw.randint(1, 6) for name in ("team-a", "team-b")[: draw.randint(0, 2)]}
    is_group, policy = draw.random() < 0.3, draw.choice(_POLICIES)
    gangs = {
        f"g{index}": (draw.randint(1, 3), policy if is_group else draw.choice(_POLICIES))
        for index in range(draw.randint(0, 2))
    }
    pods = [_pod(draw, f"p{index}", (*quotas, ""), (*gangs, "")) for index in range(draw.randint(1, 5))]
    held = [
        (draw.randrange(len(nodes)), draw.randint(1, 3), draw.random() < 0.5, draw.choice(("", "Restricted")))
        for _ in range(draw.choice((0, 0, 1, 2)))
    ]
    leaving = draw.sample(pods, draw.randint(1, min(4, len(pods))))
    return Batch(nodes, quotas, gangs, is_group, held, pods, leaving)


def _pod(draw: Random, name: str, quotas: Sequence[str], gangs: Sequence[str]) -> PodFacts:
    return PodFacts(name, draw.choice((1, 1, 2, 3)), draw.choice(_PERCENTS), draw.choice(quotas), draw.choice(gangs))


def _gpu_room(num_gpus: int) -> dict[str, str]:
    return {name: str(100 * num_gpus) for name in (CORE, RATIO)} if num_gpus else {}


def _quota(name: str, cpu: int) -> Object:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": "koordinator-system"},
        "spec": {"min": {"cpu": str(cpu)}, "max": {"cpu": str(cpu)}},
    }
