"""How a CSI driver names a volume that Kubernetes once served itself, and from where it says the volume is reached.

Mirrors `k8s.io/csi-translation-lib` 0.36. The drivers themselves are those of `storage.MIGRATED_DRIVERS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement

__all__ = ["ebs_handle", "gce_handle", "migrated_affinity", "zones_of"]

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_OLD_ZONE, _OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
_SEPARATOR = "__"
_UNSPECIFIED = "UNSPECIFIED"
_EBS_SCHEME = "aws://"
_ZONE_KEYS = {
    "kubernetes.io/aws-ebs": "topology.ebs.csi.aws.com/zone",
    "kubernetes.io/gce-pd": "topology.gke.io/zone",
    "kubernetes.io/cinder": "topology.cinder.csi.openstack.org/zone",
}
"""Plugin → the node label under which its driver has the zone; others keep a volume's node affinity as it is."""


def ebs_handle(volume_id: str) -> str:
    """The driver's handle of an EBS volume, whose id may be written `aws://zone/vol-1`; empty for no valid id."""
    if not volume_id.startswith(_EBS_SCHEME):
        return volume_id
    handle = volume_id.removeprefix(_EBS_SCHEME).partition("/")[2].strip("/")
    return handle if handle.startswith("vol-") and "/" not in handle else ""


def gce_handle(disk: str, zones: str = "") -> str:
    """The driver's handle of a persistent disk; `zones` is its zone label, which names several for a regional disk.

    Empty where the zones are not of one region, written `locale-region-zone`.
    """
    names = zones.split(_SEPARATOR)
    if len(names) == 1:
        return f"projects/{_UNSPECIFIED}/zones/{zones or _UNSPECIFIED}/disks/{disk}"
    regions = {name.rpartition("-")[0] if name.count("-") == 2 else "" for name in names}
    region = regions.pop()
    return f"projects/{_UNSPECIFIED}/regions/{region}/disks/{disk}" if region and not regions else ""


def zones_of(labels: Mapping[str, str]) -> str:
    """The zone label of a disk of Google's, the older spelling first; empty without one."""
    return labels.get(_OLD_ZONE) or labels.get(_ZONE) or ""


def migrated_affinity(
    plugin: str, affinity: tuple[NodeSelectorTerm, ...] | None, labels: Mapping[str, str]
) -> tuple[NodeSelectorTerm, ...] | None:
    """The node affinity of a volume of `plugin` on nodes that have left the plugin to its driver.

    The zone is asked for by the driver's own label. A volume that asks for no zone gets those of its `labels`.
    """
    driver_key = _ZONE_KEYS.get(plugin)
    if driver_key is None:
        return affinity
    terms = affinity or ()
    zone_key = _zone_key(terms, labels)
    renamed: dict[str, str] = {}
    if _values(terms, zone_key):
        renamed[zone_key] = driver_key
    elif zones := {zone.strip() for zone in labels.get(zone_key, "").split(_SEPARATOR)} - {""}:
        in_zones = Requirement(driver_key, "In", frozenset(zones))
        terms = tuple(_with(term, (*term.expressions, in_zones)) for term in terms or (NodeSelectorTerm(),))
    if zone_key == _OLD_ZONE and _values(terms, _OLD_REGION):
        renamed[_OLD_REGION] = _REGION
    if renamed:
        terms = tuple(_with(term, (_rename(each, renamed) for each in term.expressions)) for term in terms)
    return terms if terms else affinity


def _zone_key(terms: Iterable[NodeSelectorTerm], labels: Mapping[str, str]) -> str:
    """The spelling of the zone that a volume uses, in its affinity before its labels."""
    asked = {requirement.key for term in terms for requirement in term.expressions}
    used = next((keys for keys in (asked, labels.keys()) if keys & {_ZONE, _OLD_ZONE}), {_ZONE})
    return _ZONE if _ZONE in used else _OLD_ZONE


def _values(terms: Iterable[NodeSelectorTerm], key: str) -> bool:
    """Whether any condition on `key` names values."""
    return any(requirement.values for term in terms for requirement in term.expressions if requirement.key == key)


def _rename(requirement: Requirement, renamed: Mapping[str, str]) -> Requirement:
    key = renamed.get(requirement.key)
    return requirement if key is None else Requirement(key, requirement.operator, requirement.values)


def _with(term: NodeSelectorTerm, expressions: Iterable[Requirement]) -> NodeSelectorTerm:
    return NodeSelectorTerm(tuple(expressions), term.fields, term.error)
