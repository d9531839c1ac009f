"""The flag that says which pods room is made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from descheduler.cli.completions import complete_file
from descheduler.cli.flags.values import file_source, read_input_name

_PENDING = "pending"
_STANDARD_INPUT = "-"
_NO_SUCH_FILE = (
    "no such file; name a manifest file to read, 'pending' for the pods that are pending, or what one pod requests,"
    " such as nvidia.com/gpu=8"
)
_MOST_DEVICES = 32
"""Devices of one claim that the scheduler allocates."""


class RoomFlags(msgspec.Struct, frozen=True):
    """Room for `pods`, which are to be created; for all pending ones where there are none.

    `beside` are the PodGroups, DeviceClasses, claims and templates of claims that are created with them.
    `is_of_requests` says that there is one pod, of which nothing is known but what it requests.
    """

    pods: Sequence[Mapping[str, Any]] = ()
    beside: Sequence[Mapping[str, Any]] = ()
    is_of_requests: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The pods as `namespace/name`."""
        return [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in self.pods]


def _read_room(ctx: click.Context, option: click.Parameter, text: str | None) -> RoomFlags | None:
    """None where the flag is not given."""
    if text is None:
        return None
    if text == _PENDING:
        return RoomFlags()
    if text != _STANDARD_INPUT and not Path(text).exists():
        if "=" not in text:
            raise click.BadParameter(f"{text!r}: {_NO_SUCH_FILE}.")
        return _of_class(text) or RoomFlags((_requested(text),), is_of_requests=True)
    read_input_name(ctx, option, text)
    return _of_file(text)


def _of_class(text: str) -> RoomFlags | None:
    """A pod with devices of one DeviceClass; None for a text that names no class."""
    from descheduler.model.names import is_container_resource
    from descheduler.planner.wanted_pods import CLASS_PREFIX, devices_of_class

    name, _, count = map(str.strip, text.partition("="))
    device_class = name.removeprefix(CLASS_PREFIX)
    is_named = name.startswith(CLASS_PREFIX) or ("." in name and "/" not in name and not is_container_resource(name))
    if not is_named or "," in count:
        return None
    if not (count.isdecimal() and 0 < int(count) <= _MOST_DEVICES):
        raise click.BadParameter(f"{text!r}: {count} is not a number of devices from 1 to {_MOST_DEVICES}.")
    pod, template = devices_of_class(device_class, int(count))
    return RoomFlags((pod,), (template,), is_of_requests=True)


def _requested(text: str) -> Mapping[str, Any]:
    from descheduler.model.quantity import QuantityError, parse_quantity
    from descheduler.planner.wanted_pods import WantedPodsError, pod_of_requests

    requests: dict[str, str] = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        resource, amount = map(str.strip, entry.partition("=")[::2])
        try:
            is_something = parse_quantity(amount) > 0
        except QuantityError as error:
            raise click.BadParameter(f"{entry!r}: {error}; write it like nvidia.com/gpu=8,cpu=4.") from error
        if not is_something:
            raise click.BadParameter(f"{entry!r}: {amount} is not above 0.")
        if not resource or resource in requests:
            fault = "is named twice" if resource else "has no name"
            raise click.BadParameter(f"{entry!r}: the resource {fault}.")
        requests[resource] = amount
    try:
        return pod_of_requests(requests)
    except WantedPodsError as error:
        raise click.BadParameter(f"{error}.") from error


def _of_file(name: str) -> RoomFlags:
    from descheduler.documents.problems import PolicyError
    from descheduler.documents.source import read_plain_documents
    from descheduler.planner.wanted_pods import WantedPodsError, objects_beside, pods_of_manifest

    source, shown = file_source(name)
    name = shown or name
    try:
        documents = read_plain_documents(source, name, "manifest")
        return RoomFlags(pods_of_manifest(documents), objects_beside(documents))
    except WantedPodsError as error:
        raise click.BadParameter(f"{name}: {error}.") from error
    except PolicyError as error:
        raise click.BadParameter(f"{error}.") from error


takes_room = click.option(
    "--for",
    "room",
    callback=_read_room,
    metavar="PODS",
    shell_complete=complete_file,
    help="Plan only evictions that make room for pods: 'pending' for those that are pending, a file (- is standard "
    "input) with pods or workloads to create (and with their ResourceClaims, ResourceClaimTemplates and "
    "DeviceClasses), what one pod requests, such as nvidia.com/gpu=8,cpu=4, or devices of a DeviceClass, such as "
    "gpu.example.com=4. Protections and limits are those of the policy, if there is one. Such a plan is shown and "
    "not written to a file.",
)
"""Adds for whom room is made, as `room`."""
