"""Names of schedulers that are known without a configuration; policies are checked without what these run."""

from __future__ import annotations

from descheduler.model.kube_version import KubeVersion

__all__ = ["KOORD_KUBE_VERSION", "KOORD_SCHEDULER"]

KOORD_SCHEDULER = "koord-scheduler"
"""The scheduler of Koordinator, as pods name it."""
KOORD_KUBE_VERSION = KubeVersion.parse("1.35")
"""The kube-scheduler that koord-scheduler 1.8 is made of, whatever the version of the cluster."""
