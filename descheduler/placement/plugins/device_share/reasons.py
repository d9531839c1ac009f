"""Why a node, or every node, takes no pod that wants devices, in the words of the scheduler."""

from __future__ import annotations

from descheduler.model.koordinator.devices import FPGA, GPU, RDMA
from descheduler.placement.framework.obstacle import Code, ObstacleReason

_RESOLVABLE = frozenset(
    {
        "INSUFFICIENT_GPU",
        "INSUFFICIENT_RDMA",
        "INSUFFICIENT_FPGA",
        "INSUFFICIENT_GPUS",
        "INSUFFICIENT_PARTITIONS",
        "INSUFFICIENT_IN_SCOPE",
        "JOINT_RULES",
        "NO_PRIMARY",
    }
)
"""Evicting others might help against these."""


class DeviceReason(ObstacleReason):
    """What `pkg/scheduler/plugins/deviceshare` has against a node."""

    ISOLATION = (
        1 << 0,
        "GPUIsolationProviderHAMICore not found on the node",
        "wrong label koordinator.sh/gpu-isolation-provider",
    )
    UNSUPPORTED_MODEL = (
        1 << 1,
        "model <model> of vendor <vendor> does not support GPU Share",
        "GPU model not to be shared",
    )
    NO_GPU = 1 << 2, "Insufficient gpu devices", "no gpu devices"
    NO_RDMA = 1 << 3, "Insufficient rdma devices", "no rdma devices"
    NO_FPGA = 1 << 4, "Insufficient fpga devices", "no fpga devices"
    NO_GPU_FUNCTIONS = 1 << 5, "Insufficient gpu VirtualFunctions", "no gpu virtual functions"
    NO_RDMA_FUNCTIONS = 1 << 6, "Insufficient rdma VirtualFunctions", "no rdma virtual functions"
    NO_FPGA_FUNCTIONS = 1 << 7, "Insufficient fpga VirtualFunctions", "no fpga virtual functions"
    NO_TEMPLATE = 1 << 8, "no matched GPU shared resource template"
    NO_PARTITION_TABLE = 1 << 9, "node(s) missing GPU Partition Table", "no GPU partition table"
    UNSUPPORTED_NUMBER = 1 << 10, "node(s) Unsupported number of GPU requests", "no partition of this number of GPUs"
    NO_TOPOLOGY = 1 << 11, "node(s) missing GPU Device Topology Tree", "no topology of GPUs"
    SHARED_BY_SEVERAL = 1 << 12, "node(s) Unsupported Multi-Shared GPU", "parts of several GPUs in one scope"
    INSUFFICIENT_GPU = 1 << 13, "Insufficient gpu devices", "insufficient gpu devices"
    INSUFFICIENT_RDMA = 1 << 14, "Insufficient rdma devices", "insufficient rdma devices"
    INSUFFICIENT_FPGA = 1 << 15, "Insufficient fpga devices", "insufficient fpga devices"
    INSUFFICIENT_GPUS = 1 << 16, "Insufficient GPU Devices", "insufficient gpu devices"
    INSUFFICIENT_PARTITIONS = 1 << 17, "Insufficient Partitioned GPU Devices", "insufficient GPU partitions"
    INSUFFICIENT_IN_SCOPE = 1 << 18, "Insufficient Topology Scoped GPU Devices", "insufficient gpu devices in one scope"
    JOINT_RULES = 1 << 19, "node(s) Device Joint-Allocate rules violation", "devices not on the same PCIe switch"
    NO_PRIMARY = 1 << 20, "node(s) Insufficient primary device", "insufficient primary device"

    @property
    def code(self) -> Code:
        """How final it is."""
        return Code.UNSCHEDULABLE if self.name in _RESOLVABLE else Code.UNRESOLVABLE


_NONE = {GPU: DeviceReason.NO_GPU, RDMA: DeviceReason.NO_RDMA, FPGA: DeviceReason.NO_FPGA}
_TOO_FEW = {
    GPU: DeviceReason.INSUFFICIENT_GPU,
    RDMA: DeviceReason.INSUFFICIENT_RDMA,
    FPGA: DeviceReason.INSUFFICIENT_FPGA,
}
_NO_FUNCTIONS = {
    GPU: DeviceReason.NO_GPU_FUNCTIONS,
    RDMA: DeviceReason.NO_RDMA_FUNCTIONS,
    FPGA: DeviceReason.NO_FPGA_FUNCTIONS,
}
_BY_BIT = {reason.bit: reason for reason in DeviceReason}


def lacking(device_type: str, *, functions: bool = False) -> DeviceReason:
    """That the node has no device, or no virtual function, of a type."""
    return (_NO_FUNCTIONS if functions else _NONE)[device_type]


def insufficient(device_type: str) -> DeviceReason:
    """That too little of the node's devices of a type is free."""
    return _TOO_FEW[device_type]


def reasons_in(bits: int) -> tuple[DeviceReason, ...]:
    """The reasons of a set of bits."""
    return tuple(reason for bit, reason in _BY_BIT.items() if bits & bit)
