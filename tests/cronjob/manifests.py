"""The manifests of `cronjob/` as documents, and the parts of them that tests ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

REPOSITORY = Path(__file__).parents[2]
CRONJOB = REPOSITORY / "cronjob"
BASE = CRONJOB / "base"
OVERLAYS = CRONJOB / "overlays"
COMPONENTS = CRONJOB / "components"
CHART = CRONJOB / "chart"


class _StrictLoader(yaml.CSafeLoader):
    """Refuses what the API server's decoder refuses too: a key that stands twice in one map."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"keys given twice: {sorted(twice)}", node.start_mark)
        return super().construct_mapping(node, deep)


def documents(text: str) -> list[Manifest]:
    """All documents in `text` that hold something."""
    return [document for document in yaml.load_all(text, _StrictLoader) if document is not None]


def named(manifests: Iterable[Manifest], kind: str) -> dict[str, Manifest]:
    """Name → manifest, of one kind."""
    return {manifest["metadata"]["name"]: manifest for manifest in manifests if manifest["kind"] == kind}


def only(manifests: Iterable[Manifest], kind: str) -> Manifest:
    """The one manifest of a kind."""
    (found,) = named(manifests, kind).values()
    return found


def pod_spec(workload: Manifest) -> Manifest:
    """The pod's part of a CronJob or Job."""
    spec = workload["spec"]["jobTemplate"]["spec"] if workload["kind"] == "CronJob" else workload["spec"]
    found: Manifest = spec["template"]["spec"]
    return found


def base_documents() -> Iterator[Manifest]:
    """The manifests of the base, before kustomize has touched them."""
    for name in ("serviceaccount.yaml", "rbac.yaml", "cronjob.yaml"):
        yield from documents((BASE / name).read_text())
