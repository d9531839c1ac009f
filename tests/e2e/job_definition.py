"""The definition of PodMigrationJobs in short: any fields, and a status of its own.

Koordinator's own definitions come with its programs, which only the tests beside peers build.
"""

from __future__ import annotations

from tests.e2e.kube_api import Object

_GROUP = "scheduling.koordinator.sh"
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

POD_MIGRATION_JOBS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"podmigrationjobs.{_GROUP}"},
    "spec": {
        "group": _GROUP,
        "scope": "Cluster",
        "names": {"kind": "PodMigrationJob", "plural": "podmigrationjobs", "singular": "podmigrationjob"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _ANYTHING},
                "subresources": {"status": {}},
            }
        ],
    },
}
