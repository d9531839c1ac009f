"""What NodeNUMAResource has against nodes, in the words of koord-scheduler 1.8."""

from __future__ import annotations

from descheduler.placement.framework.obstacle import Code, ObstacleReason

__all__ = ["CpuReason", "UnreadableTopology", "reason_of"]


class CpuReason(ObstacleReason):
    """Why a node does not take a pod."""

    NUMA_POLICY = 1, "node(s) NUMA Topology policy not match", "another NUMA topology policy"
    NOT_WHOLE = 2, "the requested CPUs must be integer", "not a whole number of CPUs requested"
    RATIO = 4, "node(s) invalid CPU amplification ratio", "invalid CPU amplification ratio"
    AMPLIFIED = 8, "Insufficient amplified cpu", "insufficient amplified cpu"
    NO_TOPOLOGY = 16, "node(s) invalid CPU Topology", "no CPU topology"
    CONFLICT = (
        32,
        "node(s) cpu bind policy conflicts with pod's required cpu bind policy",
        "another CPU bind policy",
    )
    NOT_WHOLE_CORES = 64, "node(s) requested cpus not multiple cpus per core", "not a whole number of cores requested"
    TOO_FEW = 128, "not enough cpus available to satisfy request", "not enough free CPUs to pin the pod to"

    @property
    def code(self) -> Code:
        """How final it is."""
        return Code.UNSCHEDULABLE if self in (CpuReason.AMPLIFIED, CpuReason.TOO_FEW) else Code.UNRESOLVABLE


class UnreadableTopology(ObstacleReason):
    """Why a pod is refused everywhere."""

    ANNOTATIONS = 0, "annotations resource-spec or numa-topology-spec of the pod cannot be read"


_BY_BIT = {reason.bit: reason for reason in CpuReason}


def reason_of(bits: int) -> CpuReason:
    """The reason of a bit."""
    return _BY_BIT[bits]
