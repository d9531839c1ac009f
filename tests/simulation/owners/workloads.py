"""Random owners of pods other than Jobs, each at rest: its controller has nothing to do until a pod is evicted."""

from __future__ import annotations

from collections.abc import Callable

from tests.builders import Object, ago
from tests.simulation.owners.making import NODES, Maker, reference_to
from tests.simulation.owners.reading import live_node
from tests.simulation.owners.sets import is_for_node

_HASH = "controller-revision-hash"


def _replica_set(maker: Maker) -> None:
    """A ReplicaSet, a ReplicationController or a CloneSet, whose template may have been edited."""
    kind = maker.random.choice(("ReplicaSet", "ReplicaSet", "ReplicationController", "CloneSet"))
    namespace, of_pods = maker.namespace(), maker.template()
    template = maker.edited() if maker.chance(0.2) else of_pods
    if template is of_pods and maker.chance(0.1):
        template = {**template, "spec": {**template["spec"], "nodeName": maker.random.choice(("a", "tainted"))}}
    replicas = maker.random.randint(1, 3)
    metadata = {"deletionTimestamp": ago(1)} if maker.chance(0.05) else {}
    workload = maker.workload(kind, namespace, template, {"replicas": replicas}, metadata=metadata)
    for index in range(replicas):
        maker.pod(workload, f"x-{index}", of_pods)
    if maker.chance(0.2):
        maker.pod(workload, "x-finished", of_pods, phase=maker.random.choice(("Failed", "Succeeded")), ready=False)
    else:
        _admission(maker, namespace, template, replicas)


def _deployment(maker: Maker) -> None:
    """A Deployment whose rollout may be stuck between two ReplicaSets."""
    namespace, old, new = maker.namespace(), maker.template(), maker.edited()
    is_stuck = maker.chance(0.5)
    numbers = [maker.random.randint(1, 2), maker.random.randint(1, 2)] if is_stuck else [maker.random.randint(1, 3)]
    deployment = maker.workload("Deployment", namespace, new if is_stuck else old, {"replicas": sum(numbers)})
    for number, (template, replicas) in enumerate(zip((old, new), numbers, strict=False)):
        metadata = {
            "name": f"x-{number}",
            "uid": f"rs-{namespace}-{number}",
            "ownerReferences": [reference_to(deployment)],
        }
        workload = maker.workload("ReplicaSet", namespace, template, {"replicas": replicas}, metadata=metadata)
        for index in range(replicas):
            maker.member(workload, f"x-{number}-{index}", template, ready=not number)


def _admission(maker: Maker, namespace: str, template: Object, num_pods: int) -> None:
    """Now and then a rule that stands against new pods, or against more of them at once."""
    metadata = {"name": "rule", "namespace": namespace}
    match maker.random.randint(0, 6):
        case 0:
            free = maker.random.randint(0, 1)
            name = maker.random.choice(("pods", "count/pods"))
            numbers = {"hard": {name: str(num_pods + free)}, "used": {name: str(num_pods)}}
            quota = {"spec": {"hard": numbers["hard"]}, "status": numbers}
            maker.objects.append({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, **quota})
        case 1:
            most = {"cpu": maker.random.choice(("50m", "150m"))}
            limits = [{"type": "Container", "max": most, "default": most}]
            spec = {"spec": {"limits": limits}}
            maker.objects.append({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, **spec})
        case 2:
            template["spec"]["priorityClassName"] = maker.random.choice(("there", "gone"))


def _stateful_set(maker: Maker) -> None:
    """A StatefulSet with two revisions, of which some ordinal may be broken and stop those above it."""
    namespace, replicas = maker.namespace(), maker.random.randint(1, 4)
    templates = {"old": maker.template(), "new": maker.edited() if maker.chance(0.5) else maker.template("150m")}
    first, is_ordered = maker.random.choice((0, 0, 3)), maker.chance(0.7)
    partition = None if maker.chance(0.3) else maker.random.randint(0, replicas)
    spec: Object = {"replicas": replicas, "ordinals": {"start": first}, "serviceName": "x"}
    spec["podManagementPolicy"] = "OrderedReady" if is_ordered else "Parallel"
    spec["updateStrategy"] = (
        {"type": "OnDelete"}
        if partition is None
        else {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    )
    if maker.chance(0.2):
        spec["minReadySeconds"] = 30
    status = {"currentRevision": "old", "updateRevision": "new"}
    workload = maker.workload("StatefulSet", namespace, templates["new"], spec, status=status)
    _revisions(maker, workload, templates)
    broken = maker.random.randrange(replicas) if maker.chance(0.4) else replicas
    lacks = is_ordered and maker.chance(0.4)
    for index in range(replicas):
        revision = _revision(maker, index, partition, replicas, can_run=maker.runs(templates["new"]))
        if lacks and index > broken:
            break
        facts = _broken(maker) if index == broken else {}
        lacks = lacks and "ready_since" not in facts
        since = facts.pop("ready_since", None)
        pod = maker.member(workload, f"x-{first + index}", templates[revision], labels={_HASH: revision}, **facts)
        if since is not None:
            pod["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": ago(since)}]


def _revision(maker: Maker, index: int, partition: int | None, replicas: int, *, can_run: bool) -> str:
    """That of a pod: with OnDelete any that runs. A rollout that cannot go on has come to the highest ordinal."""
    if partition is None:
        return "old" if not can_run or maker.chance(0.5) else "new"
    return "new" if index >= (partition if can_run else max(partition, replicas - 1)) else "old"


def _revisions(maker: Maker, workload: Object, templates: dict[str, Object]) -> None:
    """Adds a ControllerRevision for each template, the oldest first."""
    metadata = workload["metadata"]
    for number, (name, template) in enumerate(templates.items(), start=1):
        maker.objects.append(
            {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {
                    "name": name,
                    "namespace": metadata["namespace"],
                    "ownerReferences": [reference_to(workload)],
                },
                "revision": number,
                "data": {"spec": {"template": {**template, "$patch": "replace"}}},
            }
        )


def _broken(maker: Maker) -> Object:
    """A pod that never gets ready, one of a lost node that never stops, or one that is not ready for long."""
    facts: list[Object] = [
        {"ready": False},
        {"ready": False, "node": "lost", "deleted": 60},
        {"ready_since": 5},
    ]
    return maker.random.choice(facts)


def _daemon_set(maker: Maker) -> None:
    """A DaemonSet with a pod on each node that is to have one, and on some that are not any more."""
    namespace, of_pods = maker.namespace(), maker.template()
    is_edited = maker.chance(0.3)
    template = maker.edited() if is_edited else of_pods
    if maker.chance(0.3):
        template = {**template, "spec": {**template["spec"], "tolerations": [{"operator": "Exists"}]}}
    strategy: Object = {"type": "OnDelete"} if is_edited else {"type": "RollingUpdate", "rollingUpdate": {}}
    if not is_edited and maker.chance(0.3):
        strategy["rollingUpdate"] = {"maxSurge": 1}
    metadata = {"deletionTimestamp": ago(1)} if maker.chance(0.05) else {}
    workload = maker.workload("DaemonSet", namespace, template, {"updateStrategy": strategy}, metadata=metadata)
    if maker.chance(0.7):
        _revisions(maker, workload, {"x-old": of_pods, "x-new": template} if is_edited else {"x-old": of_pods})
    for name in NODES:
        node = live_node(next(each for each in maker.objects if each["metadata"]["name"] == name))
        if is_for_node(template["spec"], node) or maker.chance(0.2):
            maker.pod(workload, f"x-{name}", of_pods, node=name, labels={_HASH: "old"})


def _nobody(maker: Maker) -> None:
    """Pods that no known controller owns."""
    namespace = maker.namespace()
    maker.pod(None, "bare-0", maker.template(), namespace=namespace)
    for kind in ("Workflow", "TaskRun"):
        item = {"apiVersion": f"{kind.lower()}.io/v1", "kind": kind}
        metadata = {"name": "x", "namespace": namespace, "uid": f"{kind}-{namespace}"}
        maker.pod({**item, "metadata": metadata}, f"{kind.lower()}-0", maker.template())


WORKLOADS: tuple[Callable[[Maker], None], ...] = (_replica_set, _deployment, _stateful_set, _daemon_set, _nobody)
"""Each adds one owner of pods and its pods."""
