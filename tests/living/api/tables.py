"""Lists as tables, as kubectl asks for them. Source: kubernetes 1.36 `pkg/printers/internalversion/printers.go`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Object = dict[str, Any]

_COLUMNS = ("Name", "Status", "Roles")


def node_table(nodes: Iterable[Object], metadata: Mapping[str, Any]) -> Object:
    """The first columns of `kubectl get nodes`, without the objects."""
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(metadata),
        "columnDefinitions": [{"name": name, "type": "string", "format": "", "priority": 0} for name in _COLUMNS],
        "rows": [{"cells": [node["metadata"]["name"], _status(node), "<none>"], "object": None} for node in nodes],
    }


def _status(node: Object) -> str:
    conditions = node.get("status", {}).get("conditions") or ()
    ready = [each["status"] == "True" for each in conditions if each["type"] == "Ready"]
    words = ["Ready" if is_ready else "NotReady" for is_ready in ready] or ["Unknown"]
    return ",".join([*words, *(["SchedulingDisabled"] if node["spec"].get("unschedulable") else [])])
