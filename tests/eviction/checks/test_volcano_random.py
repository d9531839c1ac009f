"""Whatever a run evicts of random jobs of Volcano, the victim functions of Volcano's session would give up as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest

from descheduler.evaluation import Evaluation
from tests.builders import Object, ago, pod_object
from tests.eviction.checks.volcano_jobs import NODES, clear
from tests.placement.volcano.worlds import session
from tests.series import Part, parts

_NUM_SESSIONS = 10_000
_GROUP = "scheduling.k8s.io/group-name"
_ROLES = ("ps", "worker")


def random_job(random: Random, name: str) -> tuple[Object, list[Object]]:
    """A PodGroup, and its pods on both nodes."""
    namespace = "kube-system" if random.random() < 0.1 else "default"
    pods = [random_pod(random, f"{name}-{index}", name, namespace) for index in range(random.randrange(1, 6))]
    minimums = {role: random.randrange(3) for role in _ROLES if random.random() < 0.3}
    spec = {"minMember": random.randrange(5), **({"minTaskMember": minimums} if minimums else {})}
    budget = {f"volcano.sh/jdb-{random.choice(['min-available', 'max-unavailable'])}": random.choice(["1", "50%", "3"])}
    metadata = {"name": name, "namespace": namespace, "annotations": budget if random.random() < 0.3 else {}}
    phase = random.choice(["Running", "Running", "Running", "Inqueue", ""])
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata}
    return {**group, "spec": spec, "status": {"phase": phase}}, pods


def random_pod(random: Random, name: str, job: str, namespace: str) -> Object:
    """A pod of the job, with some of what makes Volcano spare it."""
    stated = {
        "volcano.sh/preemptable": random.choice(["true", "false"]),
        "volcano.sh/cooldown-time": random.choice(["30s", "10m"]),
        "volcano.sh/task-spec": random.choice(_ROLES),
    }
    annotations = {_GROUP: job, **{key: value for key, value in stated.items() if random.random() < 0.4}}
    return pod_object(
        name,
        namespace=namespace,
        node=random.choice(["drained", "drained", "room"]),
        phase=random.choice(["Running"] * 6 + ["Pending", "Succeeded"]),
        scheduler="volcano",
        annotations=annotations,
        conditions=[{"type": "PodScheduled", "status": "True", "lastTransitionTime": ago(120)}],
        owners=[f"Job/{job}"],
        spec={"priorityClassName": "system-node-critical"} if random.random() < 0.1 else {},
    )


def forbidden(result: Evaluation, objects: Sequence[Object]) -> list[str]:
    """The evicted tasks that plugin gang, plugin conformance or their own flag spares, but for jobs that go whole."""
    found = session([*NODES, *objects], tiers=(("gang", "conformance"),))
    tasks = {task.key: task for job in found.jobs.values() for task in job.tasks.values()}
    gone = [tasks[f"{each.namespace}/{each.name}"] for each in result.evictions]
    num_bound = Counter(task.job for task in tasks.values() if task.can_be_preempted)
    num_gone = Counter(task.job for task in gone)
    parted = [task for task in gone if num_gone[task.job] < num_bound[task.job]]
    if not parted:
        return []
    given_up = {task.uid for task in found.tiers.victims("preemptable", parted[0], parted)}
    system = {task.uid for task in gone if task.pod.namespace == "kube-system"}
    return [task.key for task in parted if task.uid not in given_up] + [
        task.key for task in gone if not task.is_preemptable or task.uid in system
    ]


@pytest.mark.long
@pytest.mark.parametrize("part", parts(250))
def test_nothing_that_the_victim_functions_forbid_is_in_a_plan(part: Part) -> None:
    num_evicted = 0
    for seed in part.of(range(_NUM_SESSIONS)):
        random = Random(seed)
        jobs = [random_job(random, f"job{index}") for index in range(random.randrange(1, 4))]
        objects = [each for group, pods in jobs for each in (group, *pods)]

        result = clear(objects, onGangMinimum=random.choice(["refuse", "evictGang"]))

        assert forbidden(result, objects) == [], f"seed {seed}"
        num_evicted += len(result.evictions)
    assert num_evicted > 0
