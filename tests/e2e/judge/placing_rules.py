"""What candidates ask of their place: taints, affinity, spread."""

from __future__ import annotations

from collections.abc import Sequence

from tests.e2e.judge.draft import Draft
from tests.e2e.judge.vocabulary import (
    APPS,
    CORES,
    DISKS,
    HOSTNAME,
    POOLS,
    RACK,
    RACKS,
    TIERS,
    TOPOLOGIES,
    VERSIONS,
    ZONE,
    ZONES,
    chance,
    label_selector,
    namespace_scope,
    some,
)
from tests.e2e.kube_api import Object

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_TOLERATIONS: Sequence[Object] = (
    {"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "secure"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"},
    {"key": "dedicated"},
    {"key": "audited", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "audited"},
    {"key": "worn", "operator": "Exists", "effect": "PreferNoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"operator": "Exists"},
)


def add_taints(draft: Draft) -> None:
    """A few tolerations, right and wrong ones, mostly with a pool that the pod must go to."""
    if chance(draft.rng, 0.8):
        draft.only_in_pool()
    if chance(draft.rng, 0.85):
        draft.tolerate(*some(draft.rng, _TOLERATIONS, 3))


def add_node_affinity(draft: Draft) -> None:
    """A selector, or required terms over labels and the node's name, and preferences."""
    rng = draft.rng
    if chance(rng, 0.3):
        draft.select("disk", rng.choice(DISKS))
    if chance(rng, 0.8):
        draft.require_node(*(_node_term(draft) for _ in range(rng.randint(1, 2))))
    if chance(rng, 0.5):
        preferences = [
            {"weight": rng.randint(1, 100), "preference": {"matchExpressions": [_node_expression(draft)]}}
            for _ in range(rng.randint(1, 3))
        ]
        draft.affinity("nodeAffinity")[_PREFERRED] = preferences


def _node_term(draft: Draft) -> Object:
    term: Object = {"matchExpressions": [_node_expression(draft) for _ in range(draft.rng.randint(1, 4))]}
    if chance(draft.rng, 0.15):
        node = draft.rng.choice(draft.world.nodes)["metadata"]["name"]
        operator = draft.rng.choice(("In", "NotIn"))
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [node]}]
    return term


def _node_expression(draft: Draft) -> Object:
    rng = draft.rng
    key, values = rng.choice(((ZONE, ZONES), (RACK, RACKS), ("disk", DISKS), ("cores", CORES), ("gpu", ("", "true"))))
    if key == "cores" and chance(rng, 0.6):
        return {"key": key, "operator": rng.choice(("Gt", "Lt")), "values": [rng.choice(("4", "8", "16"))]}
    operator = rng.choice(("In", "In", "NotIn", "Exists", "DoesNotExist"))
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": some(rng, values, 2)}


def add_pod_affinity(draft: Draft) -> None:
    """One or two required terms near pods of others or of its own kind, and preferences."""
    _add_pod_terms(draft, "podAffinity", most=2)


def add_pod_anti_affinity(draft: Draft) -> None:
    """Required terms away from pods of others or of its own kind; half of the time in a few nodes only."""
    _add_pod_terms(draft, "podAntiAffinity", most=2)
    if chance(draft.rng, 0.5):
        draft.select(RACK, draft.rng.choice(RACKS))


def _add_pod_terms(draft: Draft, kind: str, *, most: int) -> None:
    rng = draft.rng
    draft.affinity(kind)[_REQUIRED] = [_pod_term(draft) for _ in range(rng.randint(1, most))]
    if chance(rng, 0.4):
        preference = {"weight": rng.randint(1, 100), "podAffinityTerm": _pod_term(draft)}
        draft.affinity(rng.choice(("podAffinity", "podAntiAffinity")))[_PREFERRED] = [preference]


def _pod_term(draft: Draft) -> Object:
    rng = draft.rng
    selector = label_selector(rng)
    if chance(rng, 0.25):
        selector = {"matchLabels": {"app": draft.labels["app"]}}
    term = {"labelSelector": selector, "topologyKey": rng.choice(TOPOLOGIES), **namespace_scope(rng)}
    if "ver" not in str(selector) and chance(rng, 0.25):
        term[rng.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["ver"]
    return term


def add_symmetry(draft: Draft) -> None:
    """Labels that the guards of the world look for, mostly in a zone or a rack where there may be one."""
    rng = draft.rng
    draft.labels |= {"app": rng.choice(APPS), "tier": rng.choice(TIERS)}
    if chance(rng, 0.6):
        draft.labels["guarded"] = "yes"
    key = rng.choice((ZONE, RACK, HOSTNAME, ""))
    if key == HOSTNAME:
        draft.only_on_some_node()
    elif key:
        draft.select(key, rng.choice(ZONES[:3] if key == ZONE else RACKS))


def add_spread(draft: Draft) -> None:
    """One or two hard constraints with every field of the policy, sometimes a soft one, sometimes in a pool only."""
    rng = draft.rng
    keys = rng.sample(TOPOLOGIES, k=rng.choice((1, 1, 2)))
    constraints = [_constraint(draft, key) for key in keys]
    if chance(rng, 0.3):
        soft = {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
        constraints.append({**soft, "labelSelector": label_selector(rng)})
    draft.spec["topologySpreadConstraints"] = constraints
    # Where the pod may go and where its kind is counted differ under the policy Ignore, so it is often confined.
    for key, values, share in (("pool", POOLS, 0.15), ("disk", DISKS, 0.15), (ZONE, ZONES[:2], 0.6)):
        if chance(rng, share):
            draft.select(key, rng.choice(values))


def _constraint(draft: Draft, key: str) -> Object:
    rng = draft.rng
    own = {"matchLabels": {"app": draft.labels["app"]}}
    constraint: Object = {
        "maxSkew": rng.choice((1, 1, 1, 2, 3)),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": own if chance(rng, 0.7) else label_selector(rng),
    }
    if chance(rng, 0.4):
        constraint["minDomains"] = rng.randint(1, 7)
    for policy, ignored in (("nodeAffinityPolicy", 0.55), ("nodeTaintsPolicy", 0.25)):
        if chance(rng, 0.75):
            constraint[policy] = "Ignore" if chance(rng, ignored / 0.75) else "Honor"
    if "ver" not in str(constraint["labelSelector"]) and chance(rng, 0.3):
        draft.labels.setdefault("ver", rng.choice(VERSIONS))
        constraint["matchLabelKeys"] = ["ver"]
    return constraint


def add_gate(draft: Draft) -> None:
    """A gate that nobody opens."""
    draft.spec["schedulingGates"] = [{"name": "judge.test/closed"}]
