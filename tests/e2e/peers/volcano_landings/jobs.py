"""A generated batch cluster: nodes, queues, and jobs that come and go, with gangs, priorities and GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from tests.e2e import objects
from tests.e2e.kube_api import Object
from tests.e2e.peers.volcano import SCHEDULER

NAMESPACE = "batch"
CLASSES = ("single pods", "gangs", "GPU gangs", "high priority")
_GROUP = "scheduling.volcano.sh/v1beta1"
_GPU, _HIGH = "example.com/gpu", "batch-high"
_NUM_NODES, _GPU_NODES, _GPUS = 24, 8, 4
_WEIGHTS = {"research": 3, "vision": 2, "speech": 1}
_CHANCE_TO_END = 0.45
"""How often a job ends before the next one comes: a part of the jobs always waits."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of `size` pods of which `least` are bound together; each asks for so many cores and GPUs."""

    name: str
    kind: str
    queue: str
    size: int
    least: int
    cpu: int
    gpus: int = 0

    def group(self) -> Object:
        """Its PodGroup, as Volcano's controllers make it."""
        spec = {"minMember": self.least, "queue": self.queue, "minResources": {"cpu": str(self.least * self.cpu)}}
        if self.kind == "high priority":
            spec["priorityClassName"] = _HIGH
        metadata = {"name": self.name, "namespace": NAMESPACE}
        return {"apiVersion": _GROUP, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def pods(self) -> list[Object]:
        """Its pods."""
        return [self._pod(index) for index in range(self.size)]

    def _pod(self, index: int) -> Object:
        name, annotations = f"{self.name}-{index}", {"scheduling.k8s.io/group-name": self.name}
        pod = objects.pod(name, NAMESPACE, annotations=annotations, cpu=str(self.cpu), schedulerName=SCHEDULER)
        if self.gpus:
            resources = pod["spec"]["containers"][0]["resources"]
            for amounts in (resources["requests"], resources.setdefault("limits", {})):
                amounts[_GPU] = str(self.gpus)
        return pod


@dataclass(frozen=True, slots=True)
class Step:
    """`ends` is deleted, if there is one, and then `comes` is created."""

    comes: Job
    ends: str = ""


def make_cluster() -> Iterator[Object]:
    """The objects beside jobs."""
    yield objects.namespace(NAMESPACE)
    yield objects.priority_class(_HIGH, 1000)
    for name, weight in _WEIGHTS.items():
        yield {"apiVersion": _GROUP, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": weight}}
    for number in range(_NUM_NODES):
        gpus = {_GPU: str(_GPUS)} if number < _GPU_NODES else {}
        yield objects.node(f"n{number:02}", cpu="8", memory="64Gi", resources=gpus)


def make_steps(seed: int, num_jobs: int) -> Sequence[Step]:
    """So many jobs, one after the other; equal seeds give equal ones."""
    random = Random(seed)
    steps: list[Step] = []
    alive: list[str] = []
    for number in range(num_jobs):
        job = _job(random, number)
        ends = alive.pop(random.randrange(len(alive))) if alive and random.random() < _CHANCE_TO_END else ""
        steps.append(Step(job, ends))
        alive.append(job.name)
    return steps


def _job(random: Random, number: int) -> Job:
    kind = random.choice(CLASSES)
    size = 1 if kind == "single pods" else random.randint(2, 6)
    least = size if random.random() < 0.7 else random.randint(1, size)
    gpus = random.randint(1, 2) if kind == "GPU gangs" else 0
    return Job(f"j{number:04}", kind, random.choice(list(_WEIGHTS)), size, least, random.randint(1, 4), gpus)
