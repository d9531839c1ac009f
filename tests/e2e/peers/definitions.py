"""Installs the custom resource definitions of a peer, and the namespace its components expect."""

from __future__ import annotations

import yaml

from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object, condition, wait_until
from tests.e2e.objects import namespace


def install(plane: ControlPlane, peer: str, *, system_namespace: str) -> None:
    """Creates the definitions of `peer` (the name of its pins) and returns when the API server serves them all."""
    plane.api.create(namespace(system_namespace))
    files = sorted(plane.binaries.definitions[peer].glob("*.yaml"))
    definitions: list[Object] = [yaml.safe_load(file.read_text()) for file in files]
    for definition in definitions:
        plane.api.create(definition)
    for definition in definitions:
        _wait_established(plane, definition)


def _wait_established(plane: ControlPlane, definition: Object) -> None:
    wait_until(
        f"{definition['metadata']['name']} is served",
        lambda: condition(plane.api.get(definition), "Established") == "True",
    )
