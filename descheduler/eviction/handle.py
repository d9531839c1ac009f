"""What a filter plugin gets to work with: one read-only view of the cluster."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from descheduler.eviction.cluster_view import ClusterView
from descheduler.policy.types import Policy

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.eviction.node_fit import NodeFit


class Handle(msgspec.Struct, frozen=True):
    """The cycle as a filter plugin sees it. `now` is the aware UTC instant that all ages are taken at."""

    policy: Policy
    view: ClusterView
    node_fit: NodeFit
    now: datetime
