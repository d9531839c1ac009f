"""What a scheduler says of the devices of one pod, in the form in which recorded and computed answers are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from descheduler.model.pod import EXTENDED_CLAIM, Pod
from descheduler.model.quantity import parse_quantity
from descheduler.model.resource_claims import AllocationResult, ClaimAllocation, ClaimSpec
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.plugins.dynamic_resources.grants import ClaimLedger
from descheduler.placement.plugins.dynamic_resources.on_nodes import ClaimsOnNodes
from descheduler.placement.plugins.dynamic_resources.rules import DeviceFault
from descheduler.placement.shadow.shadow_cluster import Placed, taken_from

Allocated = tuple[Any, ...]
"""A claim with its devices in order and the nodes from which they can be used."""

_PLUGIN = ClaimLedger.NAME
_ENDED = DeviceFault.ENDED.reason


def recorded_allocations(entry: Mapping[str, Any]) -> dict[str, tuple[Allocated, ...]]:
    """Node → the claims that get devices there."""
    return {node: tuple(map(_recorded, claims)) for node, claims in entry.get("allocations", {}).items()}


def recorded_bound_claims(entry: Mapping[str, Any]) -> tuple[Allocated, ...] | None:
    """All claims of a bound pod, with the number of their consumers where the pod was bound to the end."""
    if "bound_claims" not in entry:
        return None
    return tuple(
        (*_recorded(claim), None if claim.get("pending") else claim["reservedFor"], _requests(claim.get("created", ())))
        for claim in entry["bound_claims"]
    )


def our_allocations(evaluation: PodEvaluation) -> dict[str, tuple[Allocated, ...]]:
    """The same of the nodes that DynamicResources passes, as it finds them."""
    on_nodes = evaluation.cycle.scratch.get(_PLUGIN)
    if not isinstance(on_nodes, ClaimsOnNodes):
        return {}
    names = [node.name for node in evaluation.cycle.cluster.table.nodes]
    against = evaluation.bits.get(_PLUGIN, np.zeros(len(names), dtype=np.uint32))
    passed = np.flatnonzero((against & ~np.uint32(DeviceFault.ENDED.bit)) == 0).tolist()
    found = {names[node]: tuple(_allocations(on_nodes, node)) for node in passed}
    return {name: allocated for name, allocated in found.items() if allocated}


def our_bound_claims(evaluation: PodEvaluation, placed: Placed) -> tuple[Allocated, ...] | None:
    """All claims of a pod that was placed."""
    on_nodes = evaluation.cycle.scratch.get(_PLUGIN)
    ledger = next((ledger for ledger, _ in placed.takings if isinstance(ledger, ClaimLedger)), None)
    taken = None if ledger is None else taken_from(placed.takings, ledger)
    if taken is None or not isinstance(on_nodes, ClaimsOnNodes):
        return None
    grants = {id(claim): grant for claim, grant in taken.grants}
    made = on_nodes.made_for(placed.node)
    claims = [*on_nodes.claims, *([] if made is None else [made])]
    return tuple(_bound(claim.name, placed.pod, claim.spec, grants[id(claim.granted)]) for claim in claims)


def our_abortion(evaluation: PodEvaluation) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The nodes that end the attempt by an error, and those that pass when looked at alone; None if none ends it."""
    against = evaluation.bits.get(_PLUGIN)
    if against is None or (not (against & DeviceFault.ENDED.bit).any() and not (against & DeviceFault.ERROR.bit).any()):
        return None
    names = [node.name for node in evaluation.cycle.cluster.table.nodes]
    before = evaluation.asked()
    for name, bits in evaluation.bits.items():
        if name == _PLUGIN:
            break
        before &= bits == 0
    failed = np.flatnonzero(before & ((against & DeviceFault.ERROR.bit) != 0))
    passing = np.flatnonzero(against == DeviceFault.ENDED.bit)
    return (_names(names, failed), _names(names, passing)) if len(failed) else None


def is_ended(reasons: Sequence[str]) -> bool:
    """Whether a node is refused for the error of another one alone."""
    return tuple(reasons) == (_ENDED,)


def _names(names: Sequence[str], nodes: Any) -> tuple[str, ...]:
    return tuple(names[node] for node in nodes.tolist())


def _allocations(on_nodes: ClaimsOnNodes, node: int) -> Iterator[Allocated]:
    for claim, allocation in on_nodes.new_on(node):
        yield _ours(claim.name, allocation)
    if on_nodes.has_idle_claim(node):
        yield EXTENDED_CLAIM, (), frozenset()


def _bound(name: str, pod: Pod, spec: ClaimSpec, grant: Any) -> Allocated:
    is_made = name == EXTENDED_CLAIM
    allocation = grant.allocation
    is_pending = any(result.binding_conditions for result in allocation.results)
    requests = [(each.name, asked.device_class, asked.number) for each in spec.requests for asked in each.choices]
    return (
        *_ours(f"{pod.name}-extended-resources-x" if is_made else name, allocation),
        None if is_pending else len(grant.holders - {("pods", pod.uid)}),
        tuple(requests) if is_made else (),
    )


def _requests(created: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, int], ...]:
    return tuple((each["name"], each["exactly"]["deviceClassName"], each["exactly"]["count"]) for each in created)


def _recorded(claim: Mapping[str, Any]) -> Allocated:
    devices = tuple(
        (
            *(each[field] for field in ("request", "driver", "pool", "device")),
            each.get("adminAccess", False),
            each.get("shared", False),
            frozenset((name, parse_quantity(str(amount))) for name, amount in each.get("consumedCapacity", {}).items()),
            tuple(each.get("bindingConditions", ())),
        )
        for each in claim["devices"]
    )
    terms = claim.get("nodeSelector", {}).get("nodeSelectorTerms", ())
    return claim["claim"], devices, frozenset(each for term in terms for each in _recorded_requirements(term))


def _recorded_requirements(term: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for part in ("matchExpressions", "matchFields"):
        for each in term.get(part, ()):
            yield part, each["key"], each["operator"], frozenset(each.get("values", ()))


def _ours(name: str, allocation: ClaimAllocation) -> Allocated:
    terms = allocation.terms or ()
    return (
        name,
        tuple(map(_device, allocation.results)),
        frozenset(each for term in terms for each in _requirements(term)),
    )


def _device(result: AllocationResult) -> Allocated:
    return (
        result.request,
        *result.device,
        result.has_admin_access,
        result.is_shared,
        frozenset((result.consumed or {}).items()),
        result.binding_conditions,
    )


def _requirements(term: NodeSelectorTerm) -> Iterator[tuple[Any, ...]]:
    for part, requirements in (("matchExpressions", term.expressions), ("matchFields", term.fields)):
        for each in requirements:
            yield part, each.key, each.operator, frozenset(each.values)
