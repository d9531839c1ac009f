"""What a pod's claims get on each node: looked for once a node, and kept while nothing changes there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum

import msgspec

from descheduler.model.node import Node
from descheduler.model.resource_claims import AllocationResult, ClaimAllocation, DeviceStatus
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement
from descheduler.placement.plugins.dynamic_resources.pools import DevicePools, PoolState
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim, AttemptError, UnknownAllocation
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.plugins.dynamic_resources.search.allocator import TOO_LONG, DeviceSearch, TakenDevice
from descheduler.placement.plugins.dynamic_resources.usage import DeviceUsage

_BINDING_TIMEOUT = timedelta(minutes=10)
MOST_ALTERNATIVES = 8


class AllocationOutcome(Enum):
    """What one node says."""

    FITS = "fits"
    NO_DEVICES = "no devices"
    INVALID_POOLS = "invalid pools"
    ERROR = "error"
    UNKNOWN = "unknown"

    @property
    def code(self) -> int:
        """Its place among all."""
        return _CODES[self]


_CODES = {outcome: place for place, outcome in enumerate(AllocationOutcome)}


class NodeAnswer(msgspec.Struct, frozen=True):
    """The outcome on one node; `detail` says what an error is, or what is unknown. `claim` is the place of the claim at
    fault among those that were asked for, None where it is no matter of one. `is_brief` says that pools of the node are
    being published, so that another outcome may come in seconds."""

    outcome: AllocationOutcome
    allocations: tuple[ClaimAllocation, ...] = ()
    score: int = 0
    detail: str = ""
    claim: int | None = None
    is_brief: bool = False

    @property
    def is_given_up(self) -> bool:
        """Whether the search has ended for its length."""
        return self.outcome is AllocationOutcome.UNKNOWN and self.detail == TOO_LONG

    @property
    def code(self) -> int:
        """The code of the outcome, and with a brief one as many more as there are outcomes."""
        return self.outcome.code + (len(_CODES) if self.is_brief else 0)


def allocate(
    claims: Sequence[AskedClaim],
    node: Node,
    pools: DevicePools,
    usage: DeviceUsage,
    rules: DeviceRules,
    most_steps: int,
) -> NodeAnswer:
    """What `claims`, none of which has devices yet, would get on `node`; unknown after `most_steps` devices."""
    seen = pools.seen_from(node)
    search = DeviceSearch(claims, seen, node, usage, rules, most_steps)
    try:
        taken = search.run()
    except AttemptError as error:
        place = None if error.claim is None else claims.index(error.claim)
        return NodeAnswer(AllocationOutcome.ERROR, detail=str(error), claim=place, is_brief=error.is_brief)
    except UnknownAllocation as doubt:
        return NodeAnswer(AllocationOutcome.UNKNOWN, detail=str(doubt))
    if taken is None:
        is_invalid = any(pool.state is PoolState.INVALID for pool in seen)
        outcome = AllocationOutcome.INVALID_POOLS if is_invalid else AllocationOutcome.NO_DEVICES
        return NodeAnswer(outcome, is_brief=any(pool.is_changing for pool in seen))
    score = sum(MOST_ALTERNATIVES - index for index in search.choices.values())
    return NodeAnswer(AllocationOutcome.FITS, tuple(_allocation(devices, node) for devices in taken), score)


def _allocation(taken: Sequence[TakenDevice], node: Node) -> ClaimAllocation:
    return ClaimAllocation(tuple(map(_result, taken)), _terms(taken, node))


def _result(taken: TakenDevice) -> AllocationResult:
    body = taken.device.body
    return AllocationResult(
        request=taken.asked.name,
        device=taken.device.id,
        has_admin_access=taken.asked.has_admin_access,
        is_shared=taken.consumed is not None,
        consumed=taken.consumed or None,
        tolerations=taken.asked.tolerations,
        binding_conditions=body.binding_conditions,
        binding_failures=body.binding_failures,
    )


def _terms(taken: Sequence[TakenDevice], node: Node) -> tuple[NodeSelectorTerm, ...] | None:
    """The nodes from which all of the devices can be used."""
    expressions: dict[Requirement, None] = {}
    fields: dict[Requirement, None] = {}
    for each in taken:
        reach = each.device.pins_to
        if reach.node_name or each.device.body.binds_to_node:
            here = Requirement("metadata.name", "In", frozenset((node.name,)))
            return (NodeSelectorTerm(fields=(here,)),)
        for term in reach.terms or ():
            expressions.update(dict.fromkeys(term.expressions))
            fields.update(dict.fromkeys(term.fields))
    return (NodeSelectorTerm(tuple(expressions), tuple(fields)),) if expressions or fields else None


def is_available(
    allocation: ClaimAllocation, statuses: Sequence[DeviceStatus], node: Node, now: datetime | None
) -> bool:
    """Whether a pod on `node` can use what a claim has; without a time no binding has timed out."""
    if not allocation.holds(node.name, node.labels):
        return False
    by_device: Mapping[object, DeviceStatus] = {status.device: status for status in statuses}
    started = allocation.allocated_at
    is_late = now is not None and started is not None and started + _BINDING_TIMEOUT < now
    for result in allocation.results:
        if result.binding_conditions:
            status = by_device.get(result.device)
            conditions: Mapping[str, str] = {} if status is None else status.conditions
            if any(conditions.get(each) == "True" for each in result.binding_failures):
                return False
            if is_late and not all(conditions.get(each) == "True" for each in result.binding_conditions):
                return False
    return True
