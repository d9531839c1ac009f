"""A Kubernetes descheduler that plans first.

`evaluate` is the Python API: one dry cycle of a policy over objects at hand. Its parts are imported at first use, so
that commands which need none of them start fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import SnapshotError
    from descheduler.documents.problems import PolicyError
    from descheduler.evaluation import Evaluation, evaluate
    from descheduler.eviction.background import EvictionAnswer

__all__ = ["Evaluation", "EvictionAnswer", "PolicyError", "SnapshotError", "evaluate"]

_HOMES = {
    "Evaluation": "descheduler.evaluation",
    "EvictionAnswer": "descheduler.eviction.background",
    "PolicyError": "descheduler.documents.problems",
    "SnapshotError": "descheduler.cluster.snapshot",
    "evaluate": "descheduler.evaluation",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
