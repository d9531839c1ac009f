"""Whatever a run evicts of random Jobs of Volcano: policies, budgets, phases and queues hold by plain counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.builders import Object, owner, pod_object
from tests.eviction.checks.volcano_jobs import clear
from tests.series import Part, parts

_NUM_WORLDS = 10_000
_ROLES = ("ps", "worker")
_ACTIONS = ("", "SyncJob", "RestartPod", "RestartTask", "RestartJob", "AbortJob")
_MIN, _MAX = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"


class _Job(NamedTuple):
    """What was made of one Job: pods by name with (role, runs, is on a node), and what is stated of it."""

    name: str
    pods: Mapping[str, tuple[str, bool, bool]]
    actions: Mapping[str, str]
    minimum: int
    budget: tuple[str, str]
    phase: str
    is_preemptable: bool
    queue: str

    def objects(self) -> Iterator[Object]:
        """Its Job, its PodGroup and its pods."""
        metadata: dict[str, Any] = {"name": self.name, "namespace": "default"}
        tasks = [{"name": role, "replicas": 5, "policies": _policies(self.actions[role])} for role in _ROLES]
        yield {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": {**metadata, "uid": f"job-{self.name}"},
            "spec": {"policies": _policies(self.actions[""]), "tasks": tasks, "maxRetry": 9},
            "status": {"state": {"phase": "Running"}},
        }
        stated = {self.budget[0]: self.budget[1]} if self.budget[0] else {}
        stated |= {} if self.is_preemptable else {"volcano.sh/preemptable": "false"}
        yield {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {**metadata, "annotations": stated},
            "spec": {"minMember": self.minimum, "queue": self.queue},
            "status": {"phase": self.phase},
        }
        for place, (name, (role, runs, is_bound)) in enumerate(self.pods.items()):
            yield pod_object(
                name,
                node=("drained" if place % 3 else "room") if is_bound else "",
                phase="Running" if runs else "Pending",
                scheduler="volcano",
                owners=[owner(f"Job/{self.name}", group="batch.volcano.sh/v1alpha1")],
                annotations={"scheduling.k8s.io/group-name": self.name, "volcano.sh/task-spec": role},
            )

    def taken_down(self, name: str) -> set[str]:
        """The bound pods that go down with one of them; all there are, and one more, where it must not go."""
        role = self.pods[name][0]
        action = self.actions[role] or self.actions[""]
        bound = {each for each, facts in self.pods.items() if facts[2]}
        if action == "AbortJob":
            return {*bound, "the job"}
        if action == "RestartJob":
            return bound
        return {each for each in bound if self.pods[each][0] == role} if action == "RestartTask" else {name}

    def num_to_keep(self) -> int:
        """How many have to run by the budget."""
        key, amount = self.budget
        number = len(self.pods)
        whole = ceil(number * int(amount[:-1]) / 100) if amount.endswith("%") else int(amount or 0)
        return {_MIN: whole, _MAX: number - whole}.get(key, 0)


def _policies(action: str) -> list[Object]:
    return [{"event": "PodEvicted", "action": action}] if action else []


def _random_job(random: Random, name: str) -> _Job:
    pods = {}
    for index in range(random.randrange(1, 6)):
        runs = random.random() < 0.85
        pods[f"{name}-{index}"] = random.choice(_ROLES), runs, runs or random.random() < 0.5
    has_budget = random.random() < 0.4
    return _Job(
        name,
        pods,
        {role: random.choice(_ACTIONS) if random.random() < 0.4 else "" for role in ("", *_ROLES)},
        random.randrange(0, len(pods) + 1),
        (random.choice((_MIN, _MAX)), random.choice(("1", "50%", "3"))) if has_budget else ("", ""),
        random.choice(("Running", "Running", "Running", "Inqueue", "Unknown")),
        random.random() < 0.85,
        random.choice(("open", "open", "open", "closed", "none")),
    )


def _queues() -> list[Object]:
    kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    states = {"open": "Open", "closed": "Closed"}
    return [{**kind, "metadata": {"name": name}, "status": {"state": state}} for name, state in states.items()]


def _faults(job: _Job, gone: set[str]) -> Iterator[str]:
    """What is wrong with the eviction of `gone`."""
    if not gone:
        return
    if job.phase != "Running" or job.queue != "open" or not job.is_preemptable:
        yield "no pod of it may be evicted"
    for name in gone:
        if not job.taken_down(name) <= gone:
            yield f"{name} takes down more than the evicted pods"
    num_running = sum(runs for _, runs, _ in job.pods.values())
    num_gone = sum(job.pods[name][1] for name in gone)
    if num_gone and num_running - num_gone < job.num_to_keep():
        yield "too few run by its budget"
    is_whole = gone == {name for name, facts in job.pods.items() if facts[2]}
    if num_running - num_gone < job.minimum and not is_whole:
        yield "too few run by minMember"


def _world(random: Random) -> Sequence[_Job]:
    return [_random_job(random, f"job{index}") for index in range(random.randrange(1, 4))]


@pytest.mark.long
@pytest.mark.parametrize("part", parts(250))
def test_no_job_is_parted_restarted_or_disrupted_against_its_rules(part: Part) -> None:
    counts: Counter[str] = Counter()
    for seed in part.of(range(_NUM_WORLDS)):
        random = Random(seed)
        jobs = _world(random)
        objects = [*_queues(), *(each for job in jobs for each in job.objects())]
        result = clear(objects, onGangMinimum=random.choice(["refuse", "evictGang"]))
        gone = {each.name for each in result.evictions}
        for job in jobs:
            assert list(_faults(job, gone & job.pods.keys())) == [], f"seed {seed}, {job.name}"
        counts.update(evicted=len(gone), refused=len(result.refusals))
    assert counts["evicted"]
    assert counts["refused"]
