"""Who explains the obstacles of which scheduling plugin: one table."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.explanation.details.neighbours import explain_pod_affinity, explain_ports, explain_spread
from descheduler.explanation.details.node_conditions import (
    explain_cordon,
    explain_declared_features,
    explain_node_affinity,
    explain_node_name,
    explain_taints,
)
from descheduler.explanation.details.resources import explain_resources
from descheduler.explanation.details.site import Explain
from descheduler.explanation.details.volumes import (
    explain_volume_binding,
    explain_volume_limits,
    explain_volume_restrictions,
    explain_volume_zone,
)

__all__ = ["DETAILS"]

DETAILS: Mapping[str, Explain] = {
    "NodeUnschedulable": explain_cordon,
    "NodeName": explain_node_name,
    "TaintToleration": explain_taints,
    "NodeAffinity": explain_node_affinity,
    "NodeDeclaredFeatures": explain_declared_features,
    "NodePorts": explain_ports,
    "NodeResourcesFit": explain_resources,
    "VolumeRestrictions": explain_volume_restrictions,
    "NodeVolumeLimits": explain_volume_limits,
    "VolumeBinding": explain_volume_binding,
    "VolumeZone": explain_volume_zone,
    "PodTopologySpread": explain_spread,
    "InterPodAffinity": explain_pod_affinity,
}
"""Plugins whose reasons say it all are left out."""
