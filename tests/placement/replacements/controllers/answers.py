"""What controllers answer about pods of small clusters."""

from __future__ import annotations

from datetime import datetime

from descheduler.placement.replacements.answer import Ending, OwnerAnswer
from descheduler.placement.replacements.owners import Owners
from tests.builders import NOW, Object
from tests.placement.workloads import cluster_of, pod_named


def answer(
    *objects: Object,
    of: str = "victim",
    gone: tuple[str, ...] = (),
    ending: Ending | None = None,
    now: datetime = NOW,
) -> OwnerAnswer:
    """What the owner of the pod `of` does in a cluster of `objects`, once the pods `gone` have left as well."""
    snapshot = cluster_of(*objects)
    left = [pod_named(snapshot, name) for name in gone]
    return Owners(snapshot, now).answer(pod_named(snapshot, of), left, ending)
