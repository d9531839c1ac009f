"""Surges on the wire: replicas that cannot be scaled back are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from descheduler.migration.job.surge import Surge, with_surge
from descheduler.migration.job.surges import Surges
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import ExchangeError

REPLICAS: dict[str, Any] = {"f:spec": {"f:replicas": {}}}


class EverChanging:
    """A Deployment that is scaled up for job `u`, and changes whenever somebody wants to write it."""

    def read(self, path: str, decode: Callable[[bytes], object]) -> object:
        """The Deployment as it is now."""
        scaled = {"manager": "descheduler-surge-u", "operation": "Update", "subresource": "scale", "fieldsV1": REPLICAS}
        metadata = {"name": "web", "namespace": "shop", "uid": "w", "resourceVersion": "7", "managedFields": [scaled]}
        whole = {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": 2}, "status": {}}
        return decode(json.dumps(whole).encode())

    def patch(self, *arguments: Any, **options: Any) -> None:
        """The resource version is another one by now."""


def test_a_workload_that_cannot_be_scaled_back_is_named() -> None:
    job = MigrationJob(
        "j", "Running", "shop", "web-0", "old", uid="u", annotations={CREATED_BY_ANNOTATION: "descheduler"}
    )

    with pytest.raises(ExchangeError, match="Deployment web keeps changing, and could not"):
        Surges(cast(Any, EverChanging())).lower_replicas(with_surge(job, Surge(True, "Deployment", "web", "w")))
