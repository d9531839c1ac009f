"""NodeResourceTopology objects as Koordinator's agent writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from descheduler.cluster.decoding.koordinator.node_topology import decode_node_topology
from descheduler.model.koordinator.node_reports import NodeTopology
from tests.builders import Object


def cpu_layout(sockets: int = 1, numa_nodes: int = 1, cores: int = 4, threads: int = 2) -> list[Object]:
    """The CPUs of a machine: `numa_nodes` in each socket, `cores` in each of these, numbered one after another."""
    return [
        {
            "id": ((socket * numa_nodes + numa) * cores + core) * threads + thread,
            "core": numa * cores + core,
            "socket": socket,
            "node": socket * numa_nodes + numa,
        }
        for socket in range(sockets)
        for numa in range(numa_nodes)
        for core in range(cores)
        for thread in range(threads)
    ]


def topology_object(
    name: str,
    *,
    cpus: Iterable[Object] = (),
    reserved: str = "",
    kubelet_reserved: str = "",
    kubelet_pods: Mapping[str, str] | None = None,
    system: str = "",
    policies: Iterable[str] = (),
    options: Mapping[str, str] | None = None,
) -> Object:
    """That of node `name`; `kubelet_pods` maps the uid of a pod that the kubelet has pinned to a list of CPUs."""
    allocs = [{"uid": uid, "cpuset": text, "managedByKubelet": True} for uid, text in (kubelet_pods or {}).items()]
    stated: dict[str, Any] = {
        "node.koordinator.sh/cpu-topology": {"detail": list(cpus)},
        "node.koordinator.sh/pod-cpu-allocs": allocs,
        "kubelet.koordinator.sh/cpu-manager-policy": {
            "policy": "static" if options else "none",
            "options": dict(options or {}),
            "reservedCPUs": kubelet_reserved,
        },
    }
    if reserved:
        stated["node.koordinator.sh/reservation"] = {"reservedCPUs": reserved}
    if system:
        stated["node.koordinator.sh/system-qos-resource"] = {"cpuset": system}
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha1",
        "kind": "NodeResourceTopology",
        "metadata": {"name": name, "annotations": {key: json.dumps(value) for key, value in stated.items()}},
        "topologyPolicies": list(policies),
        "zones": [],
    }


def make_topology(name: str, **facts: Any) -> NodeTopology:
    """`topology_object`, decoded."""
    return decode_node_topology(json.dumps(topology_object(name, **facts)).encode())


def topologies_by_node(*topologies: NodeTopology) -> dict[str, NodeTopology]:
    """The field of a snapshot."""
    return {each.name: each for each in topologies}
