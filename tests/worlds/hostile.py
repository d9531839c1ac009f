"""Clusters in which a few pods, all of which one tenant is allowed to create, ask as much of a run as they can.

Each world is seeded by its arguments alone. `scale` 1 is what the table of `python -m tests.bench` measures; tests
build the same worlds smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.builders import Object, node_object, pod_object

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_ZONE = "topology.kubernetes.io/zone"
_HOST = "kubernetes.io/hostname"
_THRESHOLDS = {"thresholds": {"pods": 20, "cpu": 20}, "targetThresholds": {"pods": 30, "cpu": 30}}

_STRATEGIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "RemovePodsViolatingInterPodAntiAffinity": ("deschedule", {}),
    "RemovePodsViolatingNodeAffinity": ("deschedule", {"nodeAffinityType": [_REQUIRED, _PREFERRED]}),
    "RemovePodsViolatingNodeTaints": ("deschedule", {"includePreferNoSchedule": True}),
    "RemoveDuplicates": ("balance", {}),
    "RemovePodsViolatingTopologySpreadConstraint": ("balance", {"constraints": ["DoNotSchedule", "ScheduleAnyway"]}),
    "LowNodeUtilization": ("balance", _THRESHOLDS),
}


@dataclass(frozen=True, slots=True)
class HostileWorld:
    """A kind of world and the strategies that suffer from it. `objects` takes the scale, 1 for the full size."""

    name: str
    objects: Callable[[float], list[Object]]
    strategies: Sequence[str]
    others: Mapping[str, Any] = field(default_factory=dict)


def hostile_policy(names: Sequence[str], *, node_fit: bool, verifies: bool) -> dict[str, Any]:
    """A DeschedulerPolicy that runs the strategies `names`, with or without nodeFit and PlacementVerification."""
    plugins: dict[str, dict[str, list[str]]] = {}
    for name in names:
        plugins.setdefault(_STRATEGIES[name][0], {"enabled": []})["enabled"].append(name)
    if verifies:
        plugins["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    configs: list[dict[str, Any]] = [{"name": name, "args": dict(_STRATEGIES[name][1])} for name in names]
    configs.append({"name": "DefaultEvictor", "args": {"nodeFit": node_fit}})
    configs += [{"name": "PlacementVerification"}] if verifies else []
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [{"name": "hostile", "pluginConfig": configs, "plugins": plugins}],
    }


def _nodes(number: int, *, taints: Sequence[str] = ()) -> Iterator[Object]:
    for index in range(number):
        labels = {_ZONE: f"zone-{index % 3}", "pool": f"pool-{index % 20}", "rank": str(index)}
        yield node_object(f"node-{index:05}", cpu="64", memory="256Gi", labels=labels, taints=taints)


def _neighbours(number: int, num_nodes: int, *, namespace: str = "tenant", **facts: Any) -> Iterator[Object]:
    """Pods that mean no harm, with labels of their own, spread evenly."""
    for index in range(number):
        labels = {"app": f"app-{index}", "tier": f"tier-{index % 7}", "group": f"group-{index % 100}"}
        yield pod_object(
            f"neighbour-{index:05}",
            namespace=namespace,
            node=f"node-{index % num_nodes:05}",
            cpu="10m",
            labels=labels,
            owners=[f"ReplicaSet/app-{index}"],
            **facts,
        )


def _hostile(number: int, num_nodes: int, spec_of: Callable[[int], Object], **facts: Any) -> Iterator[Object]:
    """Pods of one tenant; `spec_of` gives the spec's hostile part by the pod's number."""
    for index in range(number):
        yield pod_object(
            f"hostile-{index:05}",
            namespace="tenant",
            node=f"node-{index % num_nodes:05}",
            cpu="10m",
            labels={"app": f"hostile-{index}"},
            owners=[f"ReplicaSet/hostile-{index}"],
            spec=spec_of(index),
            **facts,
        )


def _scaled(number: int, scale: float) -> int:
    return max(2, round(number * scale))


def _anti_affinity(
    selector_of: Callable[[int, int], Object], scale: float, *, pods: int = 100, terms: int = 300, **term: object
) -> list[Object]:
    nodes, others = _scaled(500, scale), _scaled(5000, scale)
    num_terms = _scaled(terms, scale)

    def spec_of(pod: int) -> Object:
        made = [{"topologyKey": _ZONE, "labelSelector": selector_of(pod, index), **term} for index in range(num_terms)]
        return {"affinity": {"podAntiAffinity": {_REQUIRED: made}}}

    return [
        *_nodes(nodes),
        *_neighbours(others, nodes),
        *_hostile(_scaled(pods, scale), nodes, spec_of),
    ]


def _expression(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def _broad(pod: int, index: int) -> Object:
    """Selects every neighbour, by a condition that no other selector has."""
    return {"matchExpressions": [_expression("tier", "NotIn", f"none-{pod}-{index}")]}


def _picky(pod: int, index: int) -> Object:
    """Is likely to select any, and selects none."""
    return {
        "matchExpressions": [
            _expression("tier", "Exists"),
            _expression("app", "NotIn", f"app-{pod}-{index}"),
            _expression("absent", "Exists"),
        ]
    }


def _crowded(pod: int, index: int) -> Object:
    """Asks for common values and then for one that nobody has."""
    tiers = [f"tier-{number}" for number in range(7)]
    return {
        "matchExpressions": [_expression("tier", "In", *tiers, f"x-{pod}-{index}"), _expression("absent", "Exists")]
    }


def _node_terms(
    scale: float, term_of: Callable[[int, int], Object], *, pods: int = 200, terms: int = 1000, kind: str = _REQUIRED
) -> list[Object]:
    nodes, num_terms = _scaled(2000, scale), _scaled(terms, scale)

    def spec_of(pod: int) -> Object:
        made = [term_of(pod, index) for index in range(num_terms)]
        if kind == _REQUIRED:
            return {"affinity": {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": made}}}}
        preferred = [{"weight": 1 + index % 100, "preference": term} for index, term in enumerate(made)]
        return {"affinity": {"nodeAffinity": {_PREFERRED: preferred}}}

    return [*_nodes(nodes), *_hostile(_scaled(pods, scale), nodes, spec_of)]


def _absent_pool(pod: int, index: int) -> Object:
    return {"matchExpressions": [_expression("pool", "In", f"absent-{pod}-{index}")]}


def _high_rank(pod: int, index: int) -> Object:
    return {"matchExpressions": [_expression("rank", "Gt", str(1_000_000 + pod * 1000 + index))]}


def _not_in(pod: int, index: int) -> Object:
    return {
        "matchExpressions": [_expression("pool", "NotIn", f"absent-{pod}-{index}"), _expression(f"k-{index}", "Exists")]
    }


def _strange_name(pod: int, index: int) -> Object:
    return {"matchFields": [_expression("metadata.name", "In", f"node-x-{pod}-{index}")]}


def _taints(scale: float, operator: str, *, pods: int = 100) -> list[Object]:
    nodes, num_tolerations, num_taints = _scaled(2000, scale), _scaled(3000, scale), _scaled(50, scale)
    value = {"value": "9000000"} if operator in ("Gt", "Lt") else {}
    made: list[Object] = []
    for index, node in enumerate(_nodes(nodes)):
        effects = ("NoSchedule", "PreferNoSchedule")
        node["spec"]["taints"] = [
            {"key": f"taint-{number}", "value": str(number + index % 20), "effect": effects[number % 2]}
            for number in range(num_taints)
        ]
        made.append(node)

    def spec_of(pod: int) -> Object:
        entries = [
            {"key": f"taint-{index % num_taints}", "operator": operator, "value": f"v-{pod}-{index}", **value}
            for index in range(num_tolerations)
        ]
        if operator == "Gt":
            entries = [{**entry, "value": str(9_000_000 + pod + number)} for number, entry in enumerate(entries)]
        return {"tolerations": entries}

    return [*made, *_hostile(_scaled(pods, scale), nodes, spec_of)]


def _spread(scale: float, *, pods: int = 100, constraints: int = 300, when: str = "ScheduleAnyway") -> list[Object]:
    nodes, num_constraints = _scaled(500, scale), _scaled(constraints, scale)

    def spec_of(pod: int) -> Object:
        return {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1 + index,
                    "topologyKey": (_ZONE, _HOST, f"absent-{pod}-{index}")[index % 3],
                    "whenUnsatisfiable": when,
                    "labelSelector": _broad(pod, index),
                }
                for index in range(num_constraints)
            ]
        }

    return [*_nodes(nodes), *_neighbours(_scaled(5000, scale), nodes), *_hostile(_scaled(pods, scale), nodes, spec_of)]


def _broken_spread(scale: float, key: str, when: str = "DoNotSchedule", *, pods: int = 5000) -> list[Object]:
    """Every pod has a constraint that no other has, and every constraint is broken by half of all pods."""
    nodes, number = _scaled(500, scale), _scaled(pods, scale)

    def spec_of(pod: int) -> Object:
        others = {"matchExpressions": [_expression("app", "NotIn", f"hostile-{pod}", f"x-{pod}")]}
        stated = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": others}
        return {"topologySpreadConstraints": [stated]}

    crowded = list(_hostile(number, nodes, spec_of))
    for index, pod in enumerate(crowded):  # nodes of other zones stay empty
        pod["spec"]["nodeName"] = f"node-{index * 3 % nodes // 3 * 3:05}"
    return [*_nodes(nodes), *crowded]


def _affinity(scale: float, kind: str, weight: bool, *, pods: int = 100, terms: int = 300) -> list[Object]:
    nodes, num_terms = _scaled(500, scale), _scaled(terms, scale)

    def spec_of(pod: int) -> Object:
        made: list[Object] = [
            {"topologyKey": f"key-{pod}-{index}" if index % 2 else _ZONE, "labelSelector": _broad(pod, index)}
            for index in range(num_terms)
        ]
        if weight:
            made = [{"weight": 1, "podAffinityTerm": term} for term in made]
        return {"affinity": {kind: {_PREFERRED if weight else _REQUIRED: made}}}

    return [*_nodes(nodes), *_neighbours(_scaled(5000, scale), nodes), *_hostile(_scaled(pods, scale), nodes, spec_of)]


_ANTI = ("RemovePodsViolatingInterPodAntiAffinity",)
_NODE = ("RemovePodsViolatingNodeAffinity",)
_TAINTS = ("RemovePodsViolatingNodeTaints",)
_SPREAD = ("RemovePodsViolatingTopologySpreadConstraint",)
_USE = ("LowNodeUtilization", "RemoveDuplicates")

WORLDS = (
    HostileWorld("300 anti-affinity terms that select everything", lambda s: _anti_affinity(_broad, s), _ANTI),
    HostileWorld("300 anti-affinity terms that select nothing", lambda s: _anti_affinity(_picky, s), _ANTI),
    HostileWorld("300 anti-affinity terms of many values", lambda s: _anti_affinity(_crowded, s), _ANTI),
    HostileWorld("1,000 node affinity terms", lambda s: _node_terms(s, _absent_pool), _NODE),
    HostileWorld("1,000 node affinity terms with Gt", lambda s: _node_terms(s, _high_rank), _NODE),
    HostileWorld("1,000 node affinity terms of absent keys", lambda s: _node_terms(s, _not_in), _NODE),
    HostileWorld("1,000 node affinity terms of names", lambda s: _node_terms(s, _strange_name), _NODE),
    HostileWorld("1,000 preferred node terms", lambda s: _node_terms(s, _not_in, kind=_PREFERRED), _NODE),
    HostileWorld("3,000 tolerations, Exists", lambda s: _taints(s, "Equal"), _TAINTS),
    HostileWorld("3,000 tolerations, Gt", lambda s: _taints(s, "Gt"), _TAINTS),
    HostileWorld("300 topology spread constraints", _spread, _SPREAD),
    HostileWorld("300 hard spread constraints", lambda s: _spread(s, when="DoNotSchedule"), _SPREAD),
    HostileWorld("5,000 broken spread constraints of zones", lambda s: _broken_spread(s, _ZONE), _SPREAD),
    HostileWorld("5,000 broken spread constraints of nodes", lambda s: _broken_spread(s, _HOST), _SPREAD),
    HostileWorld("300 affinity terms", lambda s: _affinity(s, "podAffinity", False), _USE),
    HostileWorld("300 preferred affinity terms", lambda s: _affinity(s, "podAffinity", True), _USE),
    HostileWorld("300 preferred anti-affinity terms", lambda s: _affinity(s, "podAntiAffinity", True), _USE),
)
