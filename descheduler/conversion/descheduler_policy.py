"""A DeschedulerPolicy, that of volcano-sh/descheduler included, made into a DeschedulerConfiguration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.conversion.conversion import Conversion, ConversionNotes, configuration_of
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.document import Document, member_text, to_plain
from descheduler.documents.problems import PolicyError
from descheduler.model.selection.labels import LabelSelector
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy, Profile
from descheduler.strategies.low_node_utilization import PROMETHEUS

_BY_PROMETHEUS = ("LoadAware", "Rescheduling")
_EVICTOR, _PROOF = "DefaultEvictor", "PlacementVerification"
_LOST = {
    "gracePeriodSeconds": "is not converted; the pods' own grace periods hold",
    "evictionFailureEventNotification": "is not converted",
    "metricsCollector": "is not converted; only LoadAware, Rescheduling and LowNodeLoad measure usage",
    "metricsProviders": (
        "is not converted beyond the address for LoadAware and Rescheduling; LowNodeUtilization cannot measure usage"
    ),
}


def is_descheduler_policy(document: Document) -> bool:
    """Whether it is one of the version that runs here."""
    version, kind = member_text(document.root, "apiVersion"), member_text(document.root, "kind")
    return version == "descheduler/v1alpha2" and kind in ("", "DeschedulerPolicy")


def convert_descheduler_policy(document: Document) -> Conversion:
    """The same profiles with landings proven, and what changes. Raises PolicyError for a policy that does not load."""
    root = to_plain(document.root)
    policy = load_policy(root if isinstance(root, Mapping) else {}, REGISTRY, name=document.path)
    notes = ConversionNotes(document)
    notes.add(("kind",), "defects of kubernetes-sigs/descheduler are not reproduced (compatibility: fixed)")
    notes.add(("kind",), "pods whose replacement cannot be scheduled are not evicted (plugin PlacementVerification)")
    stated = root if isinstance(root, Mapping) else {}
    for key, message in _LOST.items():
        if key in stated:
            notes.add((key,), message)
    given = _listed(stated.get("profiles"))
    profiles = [
        _profile(notes, policy, profile, index, _listed(plain.get("pluginConfig")))
        for index, (profile, plain) in enumerate(zip(policy.profiles, given, strict=False))
    ]
    limits = {key: value for key, value in stated.items() if key.startswith("maxNoOfPodsToEvict")}
    selector = None if policy.node_selector is None else _selector(notes, policy.node_selector)
    return notes.of(configuration_of(profiles, nodeSelector=selector, **limits))


def _listed(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _profile(
    notes: ConversionNotes, policy: Policy, profile: Profile, index: int, configs: list[Mapping[str, object]]
) -> dict[str, object]:
    sets: dict[str, object] = {
        key: {"enabled": _references(names)}
        for key, names in (("deschedule", profile.deschedule), ("balance", profile.balance))
        if names
    }
    filters = dict.fromkeys(name for name in (*profile.filter, *profile.pre_eviction_filter) if name != _PROOF)
    instead = {"disabled": _references("*")}
    return {
        "name": profile.name or f"profile-{index + 1}",
        "pluginConfig": [
            _config(notes, policy, config, ("profiles", index, "pluginConfig", place))
            for place, config in enumerate(configs)
        ],
        "plugins": {
            **sets,
            "evict": {"enabled": _references((_EVICTOR,)), **instead},
            "filter": {"enabled": _references(filters), **instead},
        },
    }


def _references(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


def _config(
    notes: ConversionNotes, policy: Policy, config: Mapping[str, object], path: tuple[str | int, ...]
) -> Mapping[str, object]:
    """An entry of `pluginConfig`; plugins that name none get the address of the policy's Prometheus."""
    args = config.get("args")
    metrics = args.get("metrics") if isinstance(args, Mapping) else None
    if config.get("name") not in _BY_PROMETHEUS or not isinstance(args, Mapping) or not isinstance(metrics, Mapping):
        return config
    if metrics.get("type") == "prometheus_adaptor":
        notes.add((*path, "args", "metrics", "type"), "custom metrics are not read; the metrics server is asked")
    address = next((each.prometheus_url for each in policy.metrics_providers if each.source == PROMETHEUS), "")
    found = {key: value for key, value in metrics.items() if value is not None}
    if address and not found.get("address"):
        found["address"] = address
    return {**config, "args": {**args, "metrics": found}}


def _selector(notes: ConversionNotes, selector: LabelSelector) -> dict[str, object]:
    """The text form as the object form. Raises PolicyError for what objects cannot say."""
    if any(each.operator in ("Gt", "Lt") for each in selector.requirements):
        notes.add(("nodeSelector",), "compares labels with > or <, which a DeschedulerConfiguration does not know")
        raise PolicyError(notes.found[-1:])
    return {
        "matchExpressions": [
            {"key": each.key, "operator": each.operator, **({"values": sorted(each.values)} if each.values else {})}
            for each in selector.requirements
        ]
    }
