"""Pod specs as flyweights: pods whose specs state the same thing in the same words hold one `PodSpec`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_affinity, decode_topology_spread
from descheduler.cluster.decoding.blocks import (
    BlockCache,
    BlockNumbers,
    decode_amounts,
    decode_quantities,
    decode_resources,
    decode_stored_resources,
    decode_tolerations,
)
from descheduler.cluster.decoding.volume_blocks import decode_ephemeral_volume, decode_inline_disk, decode_volume_image
from descheduler.cluster.decoding.wire import ABSENT, SIDECAR, ContainerWire, Int32, PodSpecWire, VolumeWire, Wire
from descheduler.model.pod import (
    DEFAULT_GRACE_SECONDS,
    EphemeralVolume,
    HostPort,
    InlineDisk,
    PodResourceClaim,
    PodSpec,
)
from descheduler.model.requests import (
    ContainerResources,
    ResourceList,
    incoming_scoring_requests,
    pod_level_requests,
    pod_requests,
    qos_class,
    scoring_requests,
)


class PodVolumes(msgspec.Struct, frozen=True, gc=False):
    """What rules read of a pod's volumes; images are those that are mounted."""

    claim_names: tuple[str, ...] = ()
    has_local_storage: bool = False
    ephemeral: tuple[EphemeralVolume, ...] = ()
    images: tuple[str, ...] = ()
    disks: tuple[InlineDisk, ...] = ()


NO_VOLUMES = PodVolumes()
_LOCAL = PodVolumes(has_local_storage=True)
_NULL = b"null"


def read_volumes(volumes: list[VolumeWire] | None) -> PodVolumes:
    """What `volumes` say; one shared value where they say nothing of interest."""
    if not volumes:
        return NO_VOLUMES
    claims: tuple[str, ...] = ()
    is_local = is_special = False
    for volume in volumes:
        claim = volume.persistent_volume_claim
        if claim is not None:
            claims = (*claims, claim.claim_name or "")
        if volume.host_path is not ABSENT or volume.empty_dir is not ABSENT:
            is_local = is_local or bytes(volume.host_path) != _NULL or bytes(volume.empty_dir) != _NULL
        if (
            volume.ephemeral is not ABSENT
            or volume.image is not ABSENT
            or volume.gce_persistent_disk is not ABSENT
            or volume.aws_elastic_block_store is not ABSENT
            or volume.azure_disk is not ABSENT
            or volume.cinder is not ABSENT
            or volume.portworx_volume is not ABSENT
            or volume.iscsi is not ABSENT
            or volume.rbd is not ABSENT
        ):
            is_special = True
    if is_special:
        return _read_special(volumes, claims, has_local_storage=is_local)
    if claims:
        return PodVolumes(claims, is_local)
    return _LOCAL if is_local else NO_VOLUMES


def _read_special(volumes: list[VolumeWire], claims: tuple[str, ...], *, has_local_storage: bool) -> PodVolumes:
    num_claims = 0
    ephemeral = []
    for each in volumes:
        num_claims += each.persistent_volume_claim is not None
        ephemeral.append(decode_ephemeral_volume(each.name or "", bytes(each.ephemeral), num_claims))
    images = [decode_volume_image(bytes(volume.image)) for volume in volumes]
    disks = [decode_inline_disk(volume) for volume in volumes]
    return PodVolumes(
        claim_names=claims,
        has_local_storage=has_local_storage,
        ephemeral=tuple([volume for volume in ephemeral if volume is not None]),
        images=tuple([image for image in images if image]),
        disks=tuple([disk for disk in disks if disk is not None]),
    )


_NONE: ResourceList = {}
_EMPTY = (b"null", b"[]", b"{}")


class _PortWire(Wire):
    host_port: Int32 | None = None
    host_ip: str | None = msgspec.field(default=None, name="hostIP")
    protocol: str | None = None


class _GateWire(Wire):
    name: str | None = None


class _ClaimWire(Wire):
    name: str | None = None
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class _GroupWire(Wire):
    pod_group_name: str | None = None


class _RestartRuleWire(Wire):
    action: str | None = None


_decode_restart_rules = msgspec.json.Decoder(list[_RestartRuleWire] | None).decode
_decode_ports = msgspec.json.Decoder(list[_PortWire] | None).decode
_decode_gates = msgspec.json.Decoder(list[_GateWire] | None).decode
_decode_claims = msgspec.json.Decoder(list[_ClaimWire] | None).decode
_decode_group = msgspec.json.Decoder(_GroupWire | None).decode


def decode_host_ports(block: bytes) -> tuple[HostPort, ...]:
    """The ports of a container that it wants of its node."""
    return tuple(
        HostPort(port.protocol or "TCP", port.host_ip or "0.0.0.0", port.host_port)  # noqa: S104 - any address
        for port in _decode_ports(block) or ()
        if port.host_port
    )


class SpecDecoder:
    """Makes `PodSpec` values, one for all pods that state the same thing in the same words.

    With `are_stored` an amount below zero, which no API server stores, is malformed.
    """

    def __init__(self, labels: BlockCache[Mapping[str, str]], *, are_stored: bool = False) -> None:
        self._labels = labels
        self._resources = BlockCache(decode_stored_resources if are_stored else decode_resources)
        self._quantities = BlockCache(decode_amounts if are_stored else decode_quantities)
        self._ports = BlockCache(decode_host_ports)
        self._numbers = BlockNumbers()
        self._specs: dict[object, PodSpec] = {}
        self.forget()

    def forget(self) -> None:
        """Frees the bytes of the last spec."""
        self._last_asked: PodSpecWire | None = None
        self._last_volumes = NO_VOLUMES
        self._last: PodSpec | None = None

    def decode(self, asked: PodSpecWire, volumes: PodVolumes) -> PodSpec:
        """The shared value of a spec, whose volumes and node are taken out. Raises ValueError on malformed content.

        Keeps `asked` until `forget` or the next one that differs: replicas of a workload follow each other in a list,
        and comparing two specs where they lie is far cheaper than making a key of one.
        """
        known = self._last
        if known is not None and asked == self._last_asked and _are_alike(volumes, self._last_volumes):
            return known
        key = self._key(asked, volumes)
        known = self._specs.get(key)
        if known is None:
            known = self._specs[key] = self._make(asked, volumes)
        self._last_asked, self._last_volumes, self._last = asked, volumes, known
        return known

    def _key(self, spec: PodSpecWire, volumes: PodVolumes) -> object:
        """What tells specs apart. Blocks are stood for by numbers, since many specs have them in common."""
        number = self._numbers
        return (
            self._container_keys(spec.containers),
            self._container_keys(spec.init_containers),
            spec.priority,
            spec.scheduler_name,
            spec.priority_class_name,
            spec.preemption_policy,
            spec.termination_grace_period_seconds,
            spec.host_network,
            spec.host_users,
            volumes.has_local_storage,
            volumes.images,
            volumes.disks,
            *[
                0 if block is ABSENT else number[bytes(block)]
                for block in (
                    spec.tolerations,
                    spec.affinity,
                    spec.topology_spread_constraints,
                    spec.node_selector,
                    spec.overhead,
                    spec.resources,
                    spec.resource_claims,
                    spec.scheduling_gates,
                    spec.scheduling_group,
                    spec.workload_ref,
                )
            ],
        )

    def _container_keys(self, containers: list[ContainerWire] | None) -> object:
        number = self._numbers
        return tuple(
            [
                (
                    c.name,
                    c.image,
                    number[bytes(c.resources)],
                    number[bytes(c.ports)],
                    c.restart_policy,
                    number[bytes(c.restart_policy_rules)],
                )
                for c in containers or ()
            ]
        )

    def _make(self, spec: PodSpecWire, volumes: PodVolumes) -> PodSpec:
        containers = tuple(self._resources[bytes(c.resources)] for c in spec.containers or ())
        init = tuple(self._init_resources(c) for c in spec.init_containers or ())
        pod_level = pod_level_requests(self._resources[bytes(spec.resources)].requests) or _NONE
        overhead = self._quantities[bytes(spec.overhead)]
        requests = pod_requests(containers, init, pod_level=pod_level, overhead=overhead)
        scoring = scoring_requests(
            containers, init, pod_level=pod_level, overhead=overhead, has_pod_level=bool(pod_level)
        )
        incoming = incoming_scoring_requests(containers, init, overhead=overhead)
        # Most specs have one amount for all three: a dictionary each would be most of their memory.
        scoring = requests if scoring == requests else scoring
        return PodSpec(
            containers=containers,
            init_containers=init,
            images=tuple(c.image or "" for c in spec.containers or ()),
            requests=requests,
            qos_class=qos_class((*containers, *init)),
            node_selector=self._labels[bytes(spec.node_selector)],
            affinity=decode_affinity(bytes(spec.affinity)),
            tolerations=decode_tolerations(bytes(spec.tolerations)),
            topology_spread=decode_topology_spread(bytes(spec.topology_spread_constraints)),
            priority=spec.priority,
            scheduler_name=spec.scheduler_name or "",
            has_local_storage=volumes.has_local_storage,
            has_resource_claims=_says_something(spec.resource_claims),
            init_images=tuple(c.image or "" for c in spec.init_containers or ()),
            volume_images=volumes.images,
            host_ports=self._host_ports(spec),
            overhead=overhead,
            pod_level_requests=pod_level,
            scoring_requests=scoring,
            incoming_scoring_requests=scoring if incoming == scoring else incoming,
            scheduling_gates=tuple(gate.name or "" for gate in _decode_gates(bytes(spec.scheduling_gates)) or ()),
            inline_disks=volumes.disks,
            priority_class_name=spec.priority_class_name or "",
            preemption_policy=spec.preemption_policy or "",
            grace_period_seconds=_grace_period(spec.termination_grace_period_seconds),
            resource_claims=tuple(
                PodResourceClaim(
                    claim.name or "", claim.resource_claim_name or "", claim.resource_claim_template_name or ""
                )
                for claim in _decode_claims(bytes(spec.resource_claims)) or ()
            ),
            scheduling_group=_group_name(spec.scheduling_group),
            has_scheduling_group=_says_something(spec.scheduling_group) or _says_something(spec.workload_ref),
            required_features=_required_features(spec),
        )

    def _init_resources(self, container: ContainerWire) -> ContainerResources:
        resources = self._resources[bytes(container.resources)]
        if container.restart_policy != SIDECAR:
            return resources
        return ContainerResources(resources.requests, resources.limits, is_sidecar=True)

    def _host_ports(self, spec: PodSpecWire) -> tuple[HostPort, ...]:
        ports = [port for container in spec.containers or () for port in self._ports[bytes(container.ports)]]
        sidecars = [container for container in spec.init_containers or () if container.restart_policy == SIDECAR]
        ports += [
            HostPort(port.protocol, port.ip, port.port, is_of_sidecar=True)
            for sidecar in sidecars
            for port in self._ports[bytes(sidecar.ports)]
        ]
        return tuple(ports)


def _are_alike(volumes: PodVolumes, others: PodVolumes) -> bool:
    """Whether a spec tells no difference between the two."""
    return volumes is others or (
        volumes.has_local_storage == others.has_local_storage
        and volumes.images == others.images
        and volumes.disks == others.disks
    )


def _required_features(spec: PodSpecWire) -> frozenset[str]:
    """Young features that the kubelet must have (`component-helpers/nodedeclaredfeatures`, 1.36)."""
    features = set()
    if any(_restarts_all(container) for container in (*(spec.containers or ()), *(spec.init_containers or ()))):
        features.add("RestartAllContainersOnContainerExits")
    if spec.host_network and spec.host_users is False:
        features.add("UserNamespacesHostNetworkSupport")
    return frozenset(features)


def _restarts_all(container: ContainerWire) -> bool:
    rules: list[_RestartRuleWire] | None = _decode_restart_rules(container.restart_policy_rules)
    return any(rule.action == "RestartAllContainers" for rule in rules or ())


def _group_name(raw: msgspec.Raw) -> str:
    group = _decode_group(bytes(raw))
    return "" if group is None else group.pod_group_name or ""


def _says_something(raw: msgspec.Raw) -> bool:
    return bytes(raw) not in _EMPTY


def _grace_period(seconds: int | None) -> int:
    """Mirrors kubernetes 1.36 `pkg/apis/core/v1/defaults.go`."""
    return DEFAULT_GRACE_SECONDS if seconds is None else seconds
