"""NodePorts (kube-scheduler 1.36): a port of the node's own addresses serves one pod."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.model.pod import HostPort, Pod, PodSpec
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP_FOR_GOOD, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import ClosingNodes
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode, listed
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the API's way to say every address; nothing listens here


class _Port:
    """Who uses one port of one protocol: node → address → number of holders. Masks are kept for what was asked."""

    __slots__ = ("_busy", "_num_nodes", "holders")

    def __init__(self, num_nodes: int) -> None:
        self.holders: dict[int, dict[str, int]] = {}
        self._num_nodes = num_nodes
        self._busy: dict[str, BoolMask] = {}

    def change(self, node: int, address: str, by: int) -> None:
        """Counts a holder more or less."""
        addresses = self.holders.setdefault(node, {})
        held = addresses.get(address, 0) + by
        if held:
            addresses[address] = held
        else:
            del addresses[address]
            if not addresses:
                del self.holders[node]
        for wanted, mask in self._busy.items():
            mask[node] = self._conflicts(node, wanted)

    def busy(self, wanted: str) -> BoolMask:
        """Nodes on which the port is not to be had for this address. The mask follows later changes."""
        mask = self._busy.get(wanted)
        if mask is None:
            mask = self._busy[wanted] = np.zeros(self._num_nodes, dtype=bool)
            mask[[node for node in self.holders if self._conflicts(node, wanted)]] = True
        return mask

    def _conflicts(self, node: int, wanted: str) -> bool:
        addresses = self.holders.get(node)
        if not addresses:
            return False
        # Only the IPv4 wildcard stands for every address; the scheduler takes `::` for one of its own.
        return wanted == _ANY_ADDRESS or wanted in addresses or _ANY_ADDRESS in addresses


class UsedPorts(CountingFollower):
    """The host ports that placed pods hold, counted, so that of two holders one may go and the port stays taken."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._num_nodes = len(cluster.table)
        self._counts_sidecars = cluster.version.gate("counts_ports_of_sidecars")
        self._ports: dict[tuple[str, int], _Port] = {}

    def concerns(self, spec: PodSpec) -> bool:
        """Those that hold ports."""
        return bool(self.ports_of(spec))

    def fingerprint(self) -> object:
        return sorted(
            (key, node, sorted(addresses.items()))
            for key, port in self._ports.items()
            for node, addresses in port.holders.items()
        )

    def ports_of(self, spec: PodSpec) -> tuple[HostPort, ...]:
        """The host ports of a pod that count."""
        if self._counts_sidecars or not spec.host_ports:
            return spec.host_ports
        return tuple(port for port in spec.host_ports if not port.is_of_sidecar)

    def busy(self, wanted: HostPort) -> BoolMask | None:
        """Nodes on which a holder is in the way; None when no pod has ever used the port."""
        port = self._ports.get((wanted.protocol, wanted.port))
        return None if port is None else port.busy(wanted.ip)

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        if node < 0:
            return
        for used in self.ports_of(pod.spec):
            key = used.protocol, used.port
            port = self._ports.get(key)
            if port is None:
                port = self._ports[key] = _Port(self._num_nodes)
            port.change(node, used.ip, sign)


class PortReason(ObstacleReason):
    """Why a node takes no pod that wants host ports."""

    TAKEN = (
        1,
        "node(s) didn't have free ports for the requested pod ports",
        "didn't have free ports for the requested pod ports",
    )


class NodePorts:
    """Rejects nodes on which a wanted host port is taken."""

    name = "NodePorts"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._used = cluster.follow(UsedPorts)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves out pods that want no host port."""
        return PASS if self._used.ports_of(cycle.pod.spec) else SKIP_FOR_GOOD

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes where any wanted port is taken."""
        wanted = self._used.ports_of(cycle.pod.spec)
        masks = [mask for port in wanted if (mask := self._used.busy(port)) is not None]
        return np.logical_or.reduce(masks).astype(np.uint32) if masks else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        return Obstacle.of(self.name, Code.UNSCHEDULABLE, PortReason.TAKEN)


def explain_ports(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Who holds the wanted ports."""
    for wanted in refused.pod.spec.host_ports:
        holders = [
            pod.key for pod in refused.pods_here() if any(_clashes(wanted, held) for held in pod.spec.host_ports)
        ]
        if holders:
            yield f"host port {wanted.port}/{wanted.protocol} is in use by {listed(holders)}"


def _clashes(wanted: HostPort, held: HostPort) -> bool:
    is_same_port = (wanted.protocol, wanted.port) == (held.protocol, held.port)
    return is_same_port and (wanted.ip == held.ip or _ANY_ADDRESS in (wanted.ip, held.ip))


def _wants_ports(pod: Pod) -> bool:
    return bool(pod.spec.host_ports)


ROW = SchedulingPlugin(
    plugin=NodePorts,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(),
    prepared_for=frozenset({"filter"}),
    interactions=lambda _: ClosingNodes(_wants_ports),
    explain=explain_ports,
    about=About(
        check="A host port that the pod requests must not be in use by another pod on the node.",
        reasons=tuple(reason.reason for reason in PortReason),
    ),
)
