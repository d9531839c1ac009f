"""The strategies that several scenarios run."""

from __future__ import annotations

from tests.e2e.closed_loop.scenario import Strategy
from tests.e2e.closed_loop.steps import LEAVES

LEAVING_PODS = Strategy("PodLifeTime", {"states": ["Running"], "labelSelector": {"matchLabels": LEAVES}})
"""Every running pod that carries the label, whatever its age: upstream has no clock but the present."""
TAINTED_NODES = Strategy("RemovePodsViolatingNodeTaints", {})
"""Every pod on a node with a taint that it does not tolerate."""
