"""What is proven of pods with devices in random small worlds holds in every order, whatever nodes the others get."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod, coming_claims
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from tests.builders import node_object, owner, pod_object
from tests.placement.default_scheduler import default_scheduler
from tests.placement.plugins.dynamic_resources.drawn import drawn_devices, drawn_want, slices
from tests.placement.plugins.dynamic_resources.worlds import NO_DEVICE_OBJECTS, device_class
from tests.placement.workloads import workload_object

pytestmark = pytest.mark.long

NUM_WORLDS, NUM_PODS, NODES = 40, 3, "abcdef"


def drawn(chance: random.Random) -> Snapshot:
    """Pods of workloads of their own, each with a claim of its own, on nodes whose devices are for one pod each."""
    objects = [device_class(), *map(node_object, NODES), *NO_DEVICE_OBJECTS]
    for node in NODES:
        devices = [each for each in drawn_devices(chance) if not each.is_shared]
        objects += slices(node, devices) if devices else ()
    for name in (f"p{number}" for number in range(NUM_PODS)):
        want = drawn_want(chance)
        requests = [[each._replace(lanes=0) for each in choices] for choices in want.requests]
        made = want._replace(requests=requests).as_object(name)
        made["kind"], made["spec"] = "ResourceClaimTemplate", {"spec": made["spec"]}
        spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}]}
        pod = pod_object(name, node=chance.choice(NODES), owners=[owner(f"ReplicaSet/{name}")], spec=spec)
        objects += [made, pod, workload_object(f"ReplicaSet/{name}", template=pod_object("t", spec=spec))]
    return snapshot_from_objects(objects)


def all_have_nodes(scheduler: Scheduler, pods: Sequence[Pod]) -> bool:
    """Whether each of `pods` has a node, in every order and wherever those before it are."""
    for pod in pods:
        evaluation = scheduler.evaluate(pod)
        if not evaluation.fits:
            return False
        for node in evaluation.nodes.tolist():
            with scheduler.cluster.what_if():
                put_on_node(evaluation, node)
                if not all_have_nodes(scheduler, [each for each in pods if each is not pod]):
                    return False
    return True


def test_what_is_proven_holds_whatever_the_others_do() -> None:
    num_proven = 0
    for seed in range(NUM_WORLDS):
        snapshot = drawn(random.Random(seed))
        joint = LandingProver(snapshot).prove(list(snapshot.pods))
        if joint.is_proven and joint.verdict is LandingVerdict.LANDS:
            num_proven += 1
            scheduler = default_scheduler(shadow_cluster_of(snapshot, PLUGINS))
            for pod in snapshot.pods:
                scheduler.cluster.remove(pod)
            new = [
                replace(pod, node_name="", generated_claims=coming_claims(pod.name, pod.spec)) for pod in snapshot.pods
            ]
            assert all_have_nodes(scheduler, new), seed
    assert num_proven > NUM_WORLDS / 10
