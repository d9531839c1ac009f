"""What a pod's status says: states of its containers, conditions and readiness."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from sys import intern

import msgspec

from descheduler.cluster.decoding.wire import ConditionWire, ContainerStatusWire, StatusWire, Wire, set_time
from descheduler.model.pod import EXTENDED_CLAIM, ContainerStatus, PodCondition

_READY = b'"type":"Ready"'
_TRUE = b',"status":"True"'


class _ClaimStatusWire(Wire):
    name: str | None = None
    resource_claim_name: str | None = None


_NO_CLAIMS: Mapping[str, str] = {}
_decode_claim_statuses = msgspec.json.Decoder(list[_ClaimStatusWire] | None).decode
_decode_claim_status = msgspec.json.Decoder(_ClaimStatusWire | None).decode
_decode_conditions = msgspec.json.Decoder(list[ConditionWire] | None).decode


def is_ready(block: bytes) -> bool:
    """Whether the first condition named `Ready` is true."""
    # The API server writes compact JSON, `type` before `status`. Inside of strings quotes are escaped, so what is found
    # this way is the member of an object, and of the same one where no brace closes in between.
    at = block.find(_READY)
    if at != -1 and (block.startswith(_TRUE, at + len(_READY)) or block.find(_TRUE, at, block.find(b"}", at)) != -1):
        return True
    conditions: list[ConditionWire] | None = _decode_conditions(block)
    for condition in conditions or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return False


def decode_conditions(block: bytes) -> tuple[PodCondition, ...]:
    """`status.conditions`. Raises ValueError for a time without zone."""
    decoded = []
    seen: datetime | None = None
    time: datetime | None = None
    for condition in _decode_conditions(block) or ():
        moment = condition.last_transition_time
        # Conditions mostly change together: those of one moment share one value.
        if moment != seen:
            seen, time = moment, set_time(moment)
        decoded.append(
            PodCondition(
                intern(condition.type or ""), intern(condition.status or ""), intern(condition.reason or ""), time
            )
        )
    return tuple(decoded)


class PodStatus(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What replicas of a workload mostly have in common; names as in `Pod`."""

    phase: str
    reason: str
    qos_class: str
    nominated_node_name: str
    containers: tuple[ContainerStatus, ...]
    init_containers: tuple[ContainerStatus, ...]
    ephemeral_containers: tuple[ContainerStatus, ...]
    generated_claims: Mapping[str, str] = {}


class StatusDecoder:
    """Makes `PodStatus` values; one for statuses in a row that say the same, and one for equal states of containers."""

    def __init__(self) -> None:
        self._seen: dict[tuple[ContainerStatus, ...], tuple[ContainerStatus, ...]] = {}
        self.forget()

    def forget(self) -> None:
        """Frees the bytes of the last status."""
        self._last_told = StatusWire()
        self._last = PodStatus("", "", "", "", (), (), ())

    def decode(self, told: StatusWire) -> PodStatus:
        """The value of a status, whose time and conditions are taken out; keeps `told` until the next that differs."""
        if told != self._last_told:
            self._last = PodStatus(
                phase=intern(told.phase or ""),
                reason=intern(told.reason or ""),
                qos_class=intern(told.qos_class or ""),
                nominated_node_name=intern(told.nominated_node_name or ""),
                containers=self._states(told.container_statuses),
                init_containers=self._states(told.init_container_statuses),
                ephemeral_containers=self._states(told.ephemeral_container_statuses),
                generated_claims=_generated_claims(told),
            )
            self._last_told = told
        return self._last

    def _states(self, statuses: list[ContainerStatusWire] | None) -> tuple[ContainerStatus, ...]:
        """The current states, in the order given."""
        if not statuses:
            return ()
        decoded = tuple([_container_status(status) for status in statuses])
        return self._seen.setdefault(decoded, decoded)


def _container_status(status: ContainerStatusWire) -> ContainerStatus:
    state = status.state
    waiting = state.waiting if state else None
    terminated = state.terminated if state else None
    return ContainerStatus(
        restart_count=status.restart_count or 0,
        waiting_reason=None if waiting is None else waiting.reason or "",
        terminated_reason=None if terminated is None else terminated.reason or "",
        exit_code=None if terminated is None else terminated.exit_code or 0,
    )


def _generated_claims(told: StatusWire) -> Mapping[str, str]:
    statuses: list[_ClaimStatusWire] | None = _decode_claim_statuses(bytes(told.resource_claim_statuses))
    found = {each.name or "": each.resource_claim_name or "" for each in statuses or ()}
    extended: _ClaimStatusWire | None = _decode_claim_status(bytes(told.extended_resource_claim_status))
    if extended is not None and extended.resource_claim_name:
        found[EXTENDED_CLAIM] = extended.resource_claim_name
    return found or _NO_CLAIMS
