"""Current usage from the metrics server: one list of nodes and one of pods, not a call a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from descheduler.kube.errors import KubeError
from descheduler.kube.listing import ListClient, ListPage, read_list
from descheduler.model.quantity import QuantityError, ceil_milli, ceil_value, parse_quantity

__all__ = ["Usage", "read_node_usage", "read_pod_usage"]

T = TypeVar("T")

_API = "/apis/metrics.k8s.io/v1beta1"


@dataclass(frozen=True, slots=True)
class Usage:
    """Measured usage, rounded up; None where the source has no figure for the resource."""

    cpu_milli: int | None
    memory_bytes: int | None


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""


class _Container(msgspec.Struct):
    usage: dict[str, str] = {}


class _NodeMetrics(msgspec.Struct):
    metadata: _Meta
    usage: dict[str, str] = {}


class _PodMetrics(msgspec.Struct):
    metadata: _Meta
    containers: list[_Container] | None = None


class _NodeList(msgspec.Struct):
    items: list[_NodeMetrics]


class _PodList(msgspec.Struct):
    items: list[_PodMetrics]


def read_node_usage(client: ListClient) -> Mapping[str, Usage]:
    """Usage by node name. Raises KindAbsent without a metrics server, KubeError for a figure that is no quantity."""

    def consume(pages: Iterator[ListPage]) -> dict[str, Usage]:
        items = _items(pages, _NodeList, lambda found: found.items)
        return {item.metadata.name: _usage(f"node {item.metadata.name}", [item.usage]) for item in items}

    return read_list(client, f"{_API}/nodes", consume)


def read_pod_usage(client: ListClient) -> Mapping[tuple[str, str], Usage]:
    """Usage by (namespace, name), summed over containers; raises as `read_node_usage`.

    A pod whose metrics list no container (its containers have just started or just ended) is left out: it has no
    usage to speak of, which is not the same as none.
    """

    def consume(pages: Iterator[ListPage]) -> dict[tuple[str, str], Usage]:
        items = _items(pages, _PodList, lambda found: found.items)
        return {
            (item.metadata.namespace, item.metadata.name): _usage(
                f"pod {item.metadata.namespace}/{item.metadata.name}",
                [container.usage for container in item.containers],
            )
            for item in items
            if item.containers
        }

    return read_list(client, f"{_API}/pods", consume)


_ListT = TypeVar("_ListT", _NodeList, _PodList)


def _items(pages: Iterator[ListPage], kind: type[_ListT], pick: Callable[[_ListT], list[T]]) -> Iterator[T]:
    for page in pages:
        try:
            yield from pick(msgspec.json.decode(page.body, type=kind))
        except msgspec.DecodeError as error:
            raise KubeError(f"{_API}: the metrics server's list does not decode ({error})") from error


def _usage(subject: str, parts: Iterable[Mapping[str, str]]) -> Usage:
    totals: dict[str, int] = {}
    for part in parts:
        for resource in part.keys() & {"cpu", "memory"}:
            try:
                totals[resource] = totals.get(resource, 0) + parse_quantity(part[resource])
            except QuantityError as error:
                raise KubeError(f"metrics of {subject}: {resource}: {error}") from error
    cpu, memory = totals.get("cpu"), totals.get("memory")
    return Usage(
        cpu_milli=None if cpu is None else ceil_milli(cpu),
        memory_bytes=None if memory is None else ceil_value(memory),
    )
