"""Leases as an API server keeps them."""

from __future__ import annotations

import re
from typing import Any

from tests.integration.fake_objects import FakeObjects
from tests.integration.faults import Answer, failure

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
"""Where the leases of namespace kube-system are created."""

_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class FakeLeases(FakeObjects):
    """The leases of one server by namespace and name."""

    def __init__(self) -> None:
        super().__init__("Lease", "coordination.k8s.io/v1", "leases.coordination.k8s.io")

    def put(self, name: str, *, namespace: str = "kube-system", **spec: Any) -> dict[str, Any]:
        """Stores a lease as another client would, and returns it."""
        return super().put(name, namespace=namespace, spec=spec)

    def spec(self, name: str, *, namespace: str = "kube-system") -> dict[str, Any]:
        """What a lease says now."""
        found: dict[str, Any] = self.objects[namespace, name]["spec"]
        return found

    def checked(self, body: Any) -> Answer | None:
        """A refusal of what a real server would not take."""
        spec = body["spec"]
        times = [spec[field] for field in ("acquireTime", "renewTime") if field in spec]
        is_valid = spec["leaseDurationSeconds"] > 0 and spec.get("holderIdentity") != ""
        if is_valid and all(_MICRO_TIME.fullmatch(text) for text in times):
            return None
        return failure(422, "Invalid", f"Lease is invalid: {spec}")
