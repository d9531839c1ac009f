"""Generated clusters with devices on the live control plane: what is said of replacement pods, and what comes of it.

Nodes are in small groups that do not meet: no pod of one can use nodes or devices of another. So a round asks about one
pod of every group. The scheduler does not run while pods are evicted, and starts once what they leave behind is free.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.kube.discovery import discover_version
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.witness import Witness
from tests.placement.plugins.dynamic_resources.drawn import MODEL_A, TAINT, drawn_devices, drawn_want, slices
from tests.placement.plugins.dynamic_resources.worlds import GPU, any_of, claim, device, device_class, request, slice_of

CLAIM = "devices"
_API = "resource.k8s.io/v1"
_GROUP = "descheduler.test/group"
_EXTENDED = "devices.test/gpu"
_NUM_APPS = 7
_MOST_SECONDS, _STAY_SECONDS = 120.0, 3.0


@dataclass
class Tally:
    """What was said of replacements, by verdict, and what became of them; each disagreement is a sentence."""

    said: Counter[str] = field(default_factory=Counter)
    num_bound_as_said: int = 0
    num_with_devices_as_said: int = 0
    num_pending_as_said: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """One line of a table."""
        said = ", ".join(f"{number} {verdict}" for verdict, number in sorted(self.said.items()))
        return (
            f"{self.said.total()} pods ({said}): {self.num_bound_as_said} bound as said,"
            f" {self.num_with_devices_as_said} of them on the first of equal nodes with the devices named,"
            f" {self.num_pending_as_said} pending as said, {len(self.disagreements)} disagreements;"
            f" causes: {dict(self.causes)}"
        )

    def compare(self, app: str, landing: Landing, pod: Object, devices: Sequence[str]) -> None:
        """Counts what became of one replacement; without a node it is pending."""
        place, verdict = pod["spec"].get("nodeName"), landing.verdict
        self.said[verdict.value] += 1
        self.causes.update(filter(None, (landing.cause, *landing.conditions)))
        told = f"{app}: {verdict.value} {landing.ties} {landing.message}"
        if verdict is LandingVerdict.NO:
            self.num_pending_as_said += place is None
            if place is not None:
                self.disagreements.append(f"{told}; is on {place} with {devices}")
        elif verdict is LandingVerdict.LANDS:
            self.num_bound_as_said += place in landing.ties
            named = sorted(each.name for each in landing.allocations)
            if place not in landing.ties:
                self.disagreements.append(f"{told}; is on {place}: {pod['status'].get('conditions')}")
            elif place == landing.node:
                self.num_with_devices_as_said += named == sorted(devices)
                if named != sorted(devices):
                    self.disagreements.append(f"{told} with {named}; has {sorted(devices)}")


def play(cluster: Cluster, *, num_pods: int, num_rounds: int, seed: int) -> Tally:
    """Evicts one pod of each group in each round: `num_pods` in all, or fewer where a group has no pod that runs."""
    tally, scheduler = Tally(), cluster.plane["kube-scheduler"]
    groups = [_Group(cluster, random.Random(f"{seed}-{each}"), each) for each in range(num_pods // num_rounds)]
    cluster.create(device_class(extendedResourceName=_EXTENDED))
    cluster.add_nodes(*(each for group in groups for each in group.nodes))
    for group in groups:
        group.fill()
    _wait_ruled(cluster)
    for _ in range(num_rounds):
        _drop_pending(cluster)
        scheduler.stop()
        pods = cluster.api.pods(cluster.namespace)
        victims = [victim for group in groups if (victim := group.chosen(pods)) is not None]
        said = _landings(cluster, victims)
        for victim in victims:
            cluster.api.evict(victim)
        wait_until("what the evicted pods had is free", partial(_is_free, cluster, victims), _MOST_SECONDS)
        scheduler.restart()
        _wait_ruled(cluster)
        by_app, claims = {_app(pod): pod for pod in cluster.api.pods(cluster.namespace)}, claims_of(cluster)
        for victim, landing in zip(victims, said, strict=True):
            pod = by_app[_app(victim)]
            tally.compare(f"{seed}: {_app(victim)}", landing, pod, devices_of(pod, claims))
    return tally


class _Group:
    """Some nodes with devices of their own, and the apps that can only use these."""

    def __init__(self, cluster: Cluster, drawn: random.Random, number: int) -> None:
        self._cluster = cluster
        self._drawn = drawn
        self._name = f"g{number:03}"
        labels = {_GROUP: self._name}
        names = [f"{cluster.namespace}-{self._name}-{letter}" for letter in "abc"[: drawn.choice([2, 3, 3])]]
        self.nodes = [node(each, labels=labels, cpu=drawn.choice(["4", "4", "8"])) for each in names]

    def fill(self) -> None:
        """Creates the devices, then the apps with their claims."""
        for each in self.nodes:
            name = each["metadata"]["name"]
            for piece in slices(name, drawn_devices(self._drawn)):
                self._cluster.create(piece)
        if self._drawn.random() < 0.5:
            self._cluster.create(self._network_devices())
        for number in range(_NUM_APPS):
            self._add_app(f"{self._name}-{number}")

    def chosen(self, pods: Sequence[Object]) -> Object | None:
        """Which of the pods, all on nodes, is to leave; before that something may have changed around it."""
        own = [pod for pod in pods if pod["spec"]["nodeSelector"][_GROUP] == self._name]
        if not own:
            return None
        victim = self._drawn.choice(own)
        self._drawn.choice([self._cordon, self._taint, self._ask_for_more, self._change, self._leave])(victim)
        return victim

    def _network_devices(self) -> Object:
        """Devices that every node of the group can use."""
        terms = [{"matchExpressions": [{"key": _GROUP, "operator": "In", "values": [self._name]}]}]
        devices = (device(f"n{each}", {"model": self._drawn.choice("AB")}) for each in range(2))
        return slice_of("", *devices, pool=f"{self._name}-net", nodeSelector={"nodeSelectorTerms": terms})

    def _add_app(self, app: str) -> None:
        """An app of one pod: with an extended resource, with a claim that it may share, or with claims of its own."""
        namespace, how = self._cluster.namespace, self._drawn.random()
        if how < 0.15:
            self._add_pod(app, containers=[_asking(self._drawn.choice("12"))])
        elif how < 0.3:
            self._cluster.create(_claim(app, namespace, self._want()))
            for each in self._drawn.choice([[app], [app, f"{app}-too"]]):
                self._add_pod(each, resourceClaims=[{"name": CLAIM, "resourceClaimName": app}])
        else:
            self._cluster.create(claim_template(app, namespace, self._want()))
            self._add_pod(app, resourceClaims=[{"name": CLAIM, "resourceClaimTemplateName": app}])

    def _add_pod(self, app: str, **spec: Any) -> None:
        self._cluster.create(deployment(app, self._cluster.namespace, nodeSelector={_GROUP: self._name}, **spec))

    def _want(self) -> Object:
        """The spec of a claim."""
        how = self._drawn.random()
        if how < 0.6:
            made = drawn_want(self._drawn).as_object("c")
        elif how < 0.8:
            made = claim("c", any_of("r", two=request("two", MODEL_A, count=2), one=request("one")))
        elif how < 0.9:
            made = claim("c", request("r", MODEL_A, allocationMode="All"))
        else:
            made = claim("c", request("r"), request("s", f"!({MODEL_A})"))
        spec: Object = made["spec"]
        return spec

    def _leave(self, victim: Object) -> None:
        """Changes nothing."""

    def _cordon(self, victim: Object) -> None:
        self._cluster.api.patch(node(victim["spec"]["nodeName"]), {"spec": {"unschedulable": True}})

    def _taint(self, victim: Object) -> None:
        tainted(self._cluster, devices_of(victim, claims_of(self._cluster)), TAINT)

    def _ask_for_more(self, victim: Object) -> None:
        """The template is another one, of two devices that are not tainted."""
        self._renew(victim, claim("c", request("r", count=2))["spec"])

    def _change(self, victim: Object) -> None:
        self._renew(victim, self._want())

    def _renew(self, victim: Object, spec: Object) -> None:
        template = claim_template(_app(victim), self._cluster.namespace, spec)
        if self._cluster.api.find(template) is not None:
            self._cluster.api.delete(template)
            self._cluster.api.create(template)


def claim_template(name: str, namespace: str, spec: Object) -> Object:
    """Of claims with this `spec`."""
    return {
        "apiVersion": _API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": spec},
    }


def claims_of(cluster: Cluster) -> list[Object]:
    """All claims."""
    return cluster.api.items(f"/apis/{_API}/resourceclaims")


def devices_of(pod: Object, claims: Sequence[Object]) -> list[str]:
    """`pool/device` of all that those of the claims have that are reserved for the pod."""
    return [
        f"{result['pool']}/{result['device']}"
        for each in claims
        if pod["metadata"]["uid"] in _consumers(each)
        for result in each["status"]["allocation"]["devices"]["results"]
    ]


def tainted(cluster: Cluster, devices: Sequence[str], taint: Object) -> None:
    """Gives devices, named by `pool/device`, this taint and no other."""
    for piece in cluster.api.items(f"/apis/{_API}/resourceslices"):
        pool = piece["spec"]["pool"]["name"]
        named = [each for each in piece["spec"].get("devices", ()) if f"{pool}/{each['name']}" in devices]
        for each in named:
            each["taints"] = [taint]
        if named:
            cluster.api.patch(piece, {"spec": {"devices": piece["spec"]["devices"]}})


def tainted_by_rules(cluster: Cluster, devices: Sequence[str], taint: Object) -> None:
    """The same by a DeviceTaintRule for each device."""
    for number, each in enumerate(devices):
        pool, _, name = each.partition("/")
        cluster.create(
            {
                "apiVersion": "resource.k8s.io/v1beta2",
                "kind": "DeviceTaintRule",
                "metadata": {"name": f"{cluster.namespace}-{number}"},
                "spec": {"deviceSelector": {"driver": GPU, "pool": pool, "device": name}, "taint": taint},
            }
        )


def _claim(name: str, namespace: str, spec: Object) -> Object:
    return {
        "apiVersion": _API,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _asking(number: str) -> Object:
    """A container with so many of the extended resource."""
    amounts = {_EXTENDED: number}
    resources = {"requests": {"cpu": "100m", **amounts}, "limits": amounts}
    return {"name": "main", "image": "registry.test/simulated:1", "resources": resources}


def _app(pod: Object) -> str:
    return str(pod["metadata"]["labels"]["app"])


def _consumers(each: Object) -> list[str]:
    return [consumer["uid"] for consumer in each.get("status", {}).get("reservedFor", ())]


def _landings(cluster: Cluster, victims: Sequence[Object]) -> list[Landing]:
    """What the product says of each replacement, in the cluster as the product reads it."""
    snapshot = _snapshot(cluster)
    prover, by_uid = LandingProver(snapshot, version=snapshot.kube_version), {pod.uid: pod for pod in snapshot.pods}
    return [prover.consider(by_uid[victim["metadata"]["uid"]]) for victim in victims]


def _snapshot(cluster: Cluster) -> Snapshot:
    client = Witness(cluster.kubeconfig).client()
    return read_cluster(
        client,
        None,
        snapshot_request(None, Landings.EXPLAINED),
        taken_at=datetime.now(UTC),
        git_version=discover_version(client),
    )


def _is_free(cluster: Cluster, victims: Sequence[Object]) -> bool:
    """Whether the victims are gone, their claims are free, and each replacement has the claims that it gets."""
    pods = {pod["metadata"]["uid"]: pod for pod in cluster.api.pods(cluster.namespace)}
    apps = Counter(map(_app, pods.values()))
    is_gone = all(victim["metadata"]["uid"] not in pods and apps[_app(victim)] == 1 for victim in victims)
    claims = claims_of(cluster)
    has_claims = all(
        "resourceClaimTemplateName" not in reference or "resourceClaimStatuses" in pod["status"]
        for pod in pods.values()
        for reference in pod["spec"].get("resourceClaims", ())
    )
    return is_gone and has_claims and all(uid in pods for each in claims for uid in _consumers(each))


def _wait_ruled(cluster: Cluster) -> None:
    """Returns when the scheduler has ruled on all pods, and some time later, in which one that waits could be bound."""

    def is_ruled() -> bool:
        conditions = (pod.get("status", {}).get("conditions") for pod in cluster.api.pods(cluster.namespace))
        return all(any(each["type"] == "PodScheduled" for each in some or ()) for some in conditions)

    wait_until("the scheduler has ruled on all pods", is_ruled, _MOST_SECONDS)
    time.sleep(_STAY_SECONDS)


def _drop_pending(cluster: Cluster) -> None:
    """Pods that wait would compete for what becomes free: their apps go."""
    for app in {_app(pod) for pod in _pending(cluster)}:
        cluster.api.patch(deployment(app, cluster.namespace), {"spec": {"replicas": 0}})
    wait_until("no pod is pending", lambda: not [*_pending(cluster)], _MOST_SECONDS)


def _pending(cluster: Cluster) -> Iterator[Object]:
    return (pod for pod in cluster.api.pods(cluster.namespace) if not pod["spec"].get("nodeName"))
