"""Which revision a predicted replacement is of, in the numbers of a recorded case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.replacements.replacement import Replacement

_NEW = "new"


def revision_of(made: Replacement, case: Mapping[str, Any], snapshot: Snapshot) -> int | str:
    """The number of the ControllerRevision, or of the ReplicaSet of a Deployment; `new` for one that is not there."""
    owner = made.victim.controller
    assert owner is not None
    if made.answer.revision is not None:
        return made.answer.revision.number
    if owner.kind == "ReplicaSet":
        return snapshot.workloads[owner.uid].revision
    items = case["dump"]["items"]
    workload = next(item for item in items if item["metadata"]["uid"] == owner.uid)
    template = workload["spec"]["template"]
    for item in items:
        if item["kind"] == "ControllerRevision" and _template(item) == _plain(template):
            return int(item["revision"])
    return _NEW


def _template(revision: Mapping[str, Any]) -> Any:
    return _plain(revision["data"]["spec"]["template"])


def _plain(template: Mapping[str, Any]) -> Any:
    """Without what tells nothing: the mark of a patch, and the empty time of creation."""
    metadata = {key: value for key, value in template["metadata"].items() if key != "creationTimestamp"}
    return {key: value for key, value in template.items() if key != "$patch"} | {"metadata": metadata}
