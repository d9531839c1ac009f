"""The kinds of objects that runs with migration jobs write, and where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.faults.objects import Object

GROUP = "scheduling.koordinator.sh"
PODS = "/api/v1/pods"
CONFIG_MAPS = "/api/v1/configmaps"
JOBS = f"/apis/{GROUP}/v1alpha1/podmigrationjobs"
RESERVATIONS = f"/apis/{GROUP}/v1alpha1/reservations"
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
CRD_PATHS = {JOBS: "PodMigrationJob", RESERVATIONS: "Reservation"}
"""Path of each list that a cluster with Koordinator serves besides → the kind in it."""

OWNER = "descheduler-p.kube-system"
"""Whose jobs those of a policy with the only profile p are, by the page about migrations."""
OWNER_LABEL = "descheduler/jobs-of"
JOB_LABEL = "descheduler/job"
CREATED_BY = "koordinator.sh/job-created-by"
ALLOCATED = "scheduling.koordinator.sh/reservation-allocated"
PRIORITY_CLASS = "descheduler-placeholder"

_NAMESPACED = re.compile(r"/api/v1/namespaces/([^/]+)/(pods|configmaps)(?:/([^/]+))?")
_OF_CLUSTER = re.compile(rf"({re.escape(JOBS)}|{re.escape(RESERVATIONS)}|{PRIORITY_CLASSES})(?:/([^/]+)(/status)?)?")


@dataclass(frozen=True, slots=True)
class Target:
    """What the path of a request means: one object of the list at `list_path`, all of it without a `name`."""

    list_path: str
    namespace: str = ""
    name: str = ""
    is_status: bool = False


def target_of(path: str) -> Target | None:
    """The target of a request, None for paths of other kinds."""
    if match := _NAMESPACED.fullmatch(path):
        return Target(f"/api/v1/{match[2]}", match[1], match[3] or "")
    if match := _OF_CLUSTER.fullmatch(path):
        return Target(match[1], "", match[2] or "", bool(match[3]))
    return None


def object_path(list_path: str, namespace: str, name: str) -> str:
    """How an object is told from all others, "" is the namespace of cluster-wide ones."""
    return "/".join(filter(None, (list_path, namespace, name)))


def job_uid_of(item: Object) -> str:
    """The UID of the job that an object says it holds room for, "" for none."""
    labels = item["metadata"].get("labels")
    return str(labels.get(JOB_LABEL, "")) if isinstance(labels, dict) else ""
