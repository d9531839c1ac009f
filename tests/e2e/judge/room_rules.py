"""What candidates ask for room: ports, resources, volumes."""

from __future__ import annotations

from collections.abc import Sequence

from tests.e2e.judge.draft import Draft
from tests.e2e.judge.vocabulary import EXTENDED, HOST_ADDRESSES, HOST_PORTS, HUGE_PAGES, RUNTIME_CLASS, chance, some
from tests.e2e.judge.world_volumes import WAITING
from tests.e2e.kube_api import Object

_CPU = ("400m", "900m", "1500m", "2500m", "3900m")
_MEMORY = ("300Mi", "1Gi", "3Gi", "6Gi", "9Gi")


def add_ports(draft: Draft) -> None:
    """One to three host ports, on any address or on one; or all of the host's network."""
    rng = draft.rng
    on_host = chance(rng, 0.2)
    ports = []
    for port in some(rng, HOST_PORTS, 3):
        address = rng.choice(HOST_ADDRESSES)
        wanted: Object = {"containerPort": port, "protocol": "UDP" if port == 5353 else "TCP"}
        ports.append(wanted if on_host else {**wanted, "hostPort": port, **({"hostIP": address} if address else {})})
    if on_host:
        draft.spec["hostNetwork"] = True
    draft.container["ports"] = ports
    if chance(rng, 0.75):
        draft.only_on_some_node()


def add_requests(draft: Draft) -> None:
    """Requests up to the size of a node, with init containers, sidecars, overhead, or for the pod as a whole."""
    rng = draft.rng
    draft.request(cpu=rng.choice(_CPU), memory=rng.choice(_MEMORY[:3]))
    if chance(rng, 0.6):
        draft.spec["initContainers"] = [_init_container(draft, number) for number in range(rng.randint(1, 4))]
    if chance(rng, 0.35):
        draft.spec["runtimeClassName"] = RUNTIME_CLASS
    if chance(rng, 0.15) and "initContainers" not in draft.spec:
        draft.spec["resources"] = {"requests": {"cpu": "3950m", "memory": rng.choice(_MEMORY[2:])}}
    if chance(rng, 0.3):
        draft.only_in_pool()


def _init_container(draft: Draft, number: int) -> Object:
    rng = draft.rng
    requests = {"cpu": rng.choice(_CPU), "memory": rng.choice(_MEMORY)}
    container: Object = {
        "name": f"init-{number}",
        "image": "registry.test/small:1",
        "resources": {"requests": requests},
    }
    if chance(rng, 0.45):
        container["restartPolicy"] = "Always"
        container["resources"] = {"requests": {"cpu": rng.choice(_CPU[:2]), "memory": rng.choice(_MEMORY[:2])}}
        if chance(rng, 0.3):
            container["ports"] = [{"containerPort": 9090, "hostPort": 9090, "protocol": "TCP"}]
    return container


def add_extended(draft: Draft) -> None:
    """Devices, huge pages or scratch space."""
    rng = draft.rng
    resources = draft.container["resources"]
    for resource in some(rng, (*EXTENDED, HUGE_PAGES, "ephemeral-storage"), 2):
        if resource == "ephemeral-storage":
            draft.request(**{resource: rng.choice(("1Gi", "4Gi", "6Gi", "30Gi"))})
            continue
        amount = rng.choice(("32Mi", "64Mi", "128Mi", "512Mi")) if resource == HUGE_PAGES else str(rng.randint(1, 4))
        resources.setdefault("limits", {})[resource] = amount
        draft.request(**{resource: amount})
    if HUGE_PAGES in resources["requests"] and "memory" not in resources["requests"]:
        draft.request(memory="64Mi")  # the API server refuses huge pages alone
    if chance(rng, 0.4):
        draft.only_in_pool()


def add_bound_claims(draft: Draft) -> None:
    """One or two claims of a namespace that are bound or cannot be; now and then one that does not exist."""
    rng = draft.rng
    claims = [claim for claim in _claims(draft) if claim["spec"]["storageClassName"] != WAITING]
    bound = [claim for claim in claims if "volumeName" in claim["spec"]]
    first = rng.choice(bound if chance(rng, 0.93) else claims)
    draft.namespace = first["metadata"]["namespace"]
    used = [first["metadata"]["name"]]
    if chance(rng, 0.2):
        near = [c["metadata"]["name"] for c in bound if c["metadata"]["namespace"] == draft.namespace]
        used = list(dict.fromkeys([*used, rng.choice(near)])) if near else used
    if chance(rng, 0.04):
        used.append("missing")
    _mount(draft, used)


def add_delayed_claim(draft: Draft) -> None:
    """A claim that waits for its first consumer; mostly one of its own, else it may have a volume by now."""
    waiting = [claim for claim in _claims(draft) if claim["spec"]["storageClassName"] == WAITING]
    claim = draft.rng.choice(waiting) if chance(draft.rng, 0.1) else waiting[draft.number % len(waiting)]
    draft.namespace = claim["metadata"]["namespace"]
    _mount(draft, [claim["metadata"]["name"]])
    if chance(draft.rng, 0.3):
        draft.only_in_pool()


def _claims(draft: Draft) -> list[Object]:
    return [obj for obj in draft.world.objects if obj["kind"] == "PersistentVolumeClaim"]


def _mount(draft: Draft, claims: Sequence[str]) -> None:
    draft.spec["volumes"] = [
        {"name": f"v{number}", "persistentVolumeClaim": {"claimName": claim}} for number, claim in enumerate(claims)
    ]
