"""The devices of a node as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descheduler.model.text.amounts import amount_text
from descheduler.model.text.printable import printable
from descheduler.report.explanation.device import DeviceExplanation, DeviceFacts, DeviceUser
from descheduler.report.explanation.tables.waiting import waiting_table
from descheduler.report.tables.table_style import TableStyle

__all__ = ["device_table"]


def device_table(explanation: DeviceExplanation, style: TableStyle) -> Iterator[str]:
    """Each device with what is free of it, who has the rest, and which pods wait for such devices."""
    yield from style.heading(printable(f"Devices of node {explanation.node}"))
    rows = [_device(each, style) for each in explanation.devices]
    header = ["DEVICE", "MINOR", *(["ID"] if style.is_wide else []), "STATE", "NUMA", "PCIE", "TOTAL", "FREE"]
    yield from style.table(header, rows)
    rows = [
        [each.type, str(each.minor), _user(user), _amounts(user.resources)]
        for each in explanation.devices
        for user in each.users
    ]
    yield from style.table(["DEVICE", "MINOR", "USED BY", "AMOUNTS"], rows)
    yield from waiting_table(explanation.waiting, style, "PENDING POD")
    for note in explanation.notes:
        yield from style.paragraph(printable(note))
    if explanation.notes:
        yield ""


def _device(each: DeviceFacts, style: TableStyle) -> list[str]:
    return [
        each.type,
        str(each.minor),
        *([each.id] if style.is_wide else []),
        "not listed" if not each.is_listed else "healthy" if each.is_healthy else "unhealthy",
        "" if each.numa_node is None else str(each.numa_node),
        each.pcie or "",
        _amounts(each.total),
        _amounts(each.free),
    ]


def _user(user: DeviceUser) -> str:
    if user.pod is not None:
        return f"{user.pod.namespace}/{user.pod.name}"
    return f"Reservation {user.reservation}, for its owners"


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.rpartition('/')[2]} {amount_text(name, amount)}" for name, amount in amounts.items())
