"""A DeschedulerPolicy of `descheduler/v1alpha1`, with strategies, made into one of `descheduler/v1alpha2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from descheduler.conversion.conversion import API_VERSION, Conversion, ConversionNotes
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.document import Document, Member, TreeNode, kind_of, member_node, member_text, to_plain
from descheduler.documents.problems import DocumentProblem, PolicyError, did_you_mean
from descheduler.policy.load import load_policy

Path = tuple[str | int, ...]

_BALANCE = (
    "RemoveDuplicates",
    "LowNodeUtilization",
    "HighNodeUtilization",
    "RemovePodsViolatingTopologySpreadConstraint",
)
_DESCHEDULE = (
    "RemovePodsHavingTooManyRestarts",
    "RemovePodsViolatingNodeTaints",
    "RemovePodsViolatingNodeAffinity",
    "RemovePodsViolatingInterPodAntiAffinity",
    "PodLifeTime",
    "RemoveFailedPods",
)
_BY_UTILIZATION = ("LowNodeUtilization", "HighNodeUtilization")
_WITHOUT_SELECTOR = ("RemoveDuplicates", *_BY_UTILIZATION)
_GROUPS = {
    "nodeResourceUtilizationThresholds": _BY_UTILIZATION,
    "podsHavingTooManyRestarts": ("RemovePodsHavingTooManyRestarts",),
    "podLifeTime": ("PodLifeTime",),
    "removeDuplicates": ("RemoveDuplicates",),
    "failedPods": ("RemoveFailedPods",),
}
"""Parameter that holds further ones → the strategies that read it; its content are arguments of the plugin."""
_SINGLE = {
    "nodeAffinityType": ("RemovePodsViolatingNodeAffinity",),
    "includePreferNoSchedule": ("RemovePodsViolatingNodeTaints",),
    "excludedTaints": ("RemovePodsViolatingNodeTaints",),
    "includedTaints": ("RemovePodsViolatingNodeTaints",),
}
"""Parameter that is an argument of the same name → the strategies that read it."""
_LIMITS = ("nodeSelector", "maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")
_UNPROTECTED = {
    "evictLocalStoragePods": "PodsWithLocalStorage",
    "evictDaemonSetPods": "DaemonSetPods",
    "evictSystemCriticalPods": "SystemCriticalPods",
    "evictFailedBarePods": "FailedBarePods",
}
_OF_STRATEGY = ("enabled", "params", "weight")
_WITHOUT_PLACE = "has no place in a policy of this version"


def is_strategies_policy(document: Document) -> bool:
    """Whether it has the version with strategies, or strategies and no version."""
    version = member_text(document.root, "apiVersion")
    has_strategies = member_node(document.root, "strategies").value is not None
    return version == "descheduler/v1alpha1" or (not version and has_strategies)


def convert_strategies_policy(document: Document) -> Conversion:
    """The same strategies as plugins of profiles. Raises PolicyError for what is no such policy."""
    reader = _Reader(document, ConversionNotes(document))
    converted = reader.policy()
    load_policy(converted, REGISTRY, name=document.path)
    return reader.notes.of(converted, reader.origins)


@dataclass(slots=True)
class _Reader:
    """Reads the policy once; `origins` are the places of the original that parts of the result come from."""

    document: Document
    notes: ConversionNotes
    origins: dict[Path, Path] = field(default_factory=dict)

    def policy(self) -> dict[str, object]:
        """The whole policy."""
        root = self.document.root
        known = ("apiVersion", "kind", "strategies", "ignorePvcPods", *_LIMITS, *_UNPROTECTED)
        self._note_unknown((), self._members(root), known)
        limits = {key: to_plain(member.node) for key, member in self._members(root).items() if key in _LIMITS}
        return {
            "apiVersion": API_VERSION,
            "kind": "DeschedulerPolicy",
            **{key: value for key, value in limits.items() if value is not None},
            "profiles": list(self._profiles(self._evictor())),
        }

    def _evictor(self) -> dict[str, object]:
        """Arguments of DefaultEvictor for all profiles."""
        root = self.document.root
        disabled = [name for key, name in _UNPROTECTED.items() if member_node(root, key).value is True]
        enabled = ["PodsWithPVC"] if member_node(root, "ignorePvcPods").value is True else []
        protections = {"defaultDisabled": disabled, "extraEnabled": enabled}
        kept = {key: names for key, names in protections.items() if names}
        return {"podProtections": kept} if kept else {}

    def _profiles(self, evictor: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
        """A profile for all strategies that filter pods alike, in the order of the first of each."""
        groups: list[tuple[dict[str, object], list[str]]] = []
        for name in self._strategies():
            args = {**evictor, **self._filter(name)}
            fitting = next((names for known, names in groups if known == args), None)
            if fitting is None:
                groups.append((args, [name]))
            else:
                fitting.append(name)
        for index, (args, names) in enumerate(groups):
            yield self._profile(index, args, names)

    def _strategies(self) -> Iterator[str]:
        strategies = self._members(member_node(self.document.root, "strategies"))
        known = (*_DESCHEDULE, *_BALANCE)
        for name, member in strategies.items():
            path = ("strategies", name)
            if name not in known:
                self._refuse(path, f"is not a strategy of descheduler/v1alpha1{did_you_mean(name, known)}")
            self._note_unknown(path, self._members(member.node), _OF_STRATEGY)
            if member_node(member.node, "enabled").value is True:
                yield name
            else:
                self.notes.add(path, "is not converted: the strategy is not enabled")

    def _profile(self, index: int, evictor: Mapping[str, object], names: Sequence[str]) -> Mapping[str, object]:
        configs: list[Mapping[str, object]] = [{"name": "DefaultEvictor", "args": evictor}] if evictor else []
        for name in names:
            path = ("profiles", index, "pluginConfig", len(configs))
            self.origins[path] = ("strategies", name)
            args = self._args(name, (*path, "args"))
            configs.append({"name": name, "args": args} if args else {"name": name})
        points = {"deschedule": _DESCHEDULE, "balance": _BALANCE}
        enabled = {point: [name for name in names if name in there] for point, there in points.items()}
        return {
            "name": "converted" if index == 0 else f"converted-{index + 1}",
            "pluginConfig": configs,
            "plugins": {point: {"enabled": chosen} for point, chosen in enabled.items() if chosen},
        }

    def _filter(self, name: str) -> dict[str, object]:
        """Arguments of DefaultEvictor that the parameters of a strategy say."""
        params = self._params(name)
        found: dict[str, object] = {}
        if member_node(params, "nodeFit").value is True:
            found["nodeFit"] = True
        value, class_name = (member_node(params, f"thresholdPriority{suffix}").value for suffix in ("", "ClassName"))
        if value is not None:
            found["priorityThreshold"] = {"value": value}
        elif class_name:
            found["priorityThreshold"] = {"name": class_name}
        return found

    def _params(self, name: str) -> TreeNode:
        return member_node(member_node(member_node(self.document.root, "strategies"), name), "params")

    def _args(self, name: str, target: Path) -> dict[str, object]:
        """Arguments of a plugin; what it does not take is noted."""
        args: dict[str, object] = {}
        for key, member in self._members(self._params(name)).items():
            path = ("strategies", name, "params", key)
            value = to_plain(member.node)
            if value is None or key in ("nodeFit", "thresholdPriority", "thresholdPriorityClassName"):
                continue
            if name in _GROUPS.get(key, ()):
                args |= self._group(path, member.node, target)
            elif name in _SINGLE.get(key, ()) or (key == "labelSelector" and name not in _WITHOUT_SELECTOR):
                args[key] = value
            elif key == "namespaces":
                args |= self._namespaces(path, member.node, name)
            elif key == "includeSoftConstraints" and name == "RemovePodsViolatingTopologySpreadConstraint":
                args |= {"constraints": ["DoNotSchedule", "ScheduleAnyway"]} if value is True else {}
            else:
                self.notes.add(path, f"is not converted: {name} does not read it")
                continue
            self.origins[(*target, key)] = path
        return args

    def _group(self, path: Path, node: TreeNode, target: Path) -> dict[str, object]:
        found = {}
        for key, member in self._members(node).items():
            argument = "states" if key == "podStatusPhases" else key
            if key == "targetThresholds" and path[1] == "HighNodeUtilization":
                self.notes.add((*path, key), "is not converted: HighNodeUtilization does not read it")
            elif (value := to_plain(member.node)) is not None:
                found[argument] = value
                self.origins[(*target, argument)] = (*path, key)
        return found

    def _namespaces(self, path: Path, node: TreeNode, name: str) -> dict[str, object]:
        if name not in _BY_UTILIZATION:
            return {"namespaces": to_plain(node)}
        if member_node(node, "include").value is not None:
            self.notes.add((*path, "include"), f"is not converted: {name} only takes namespaces to exclude")
        excluded = to_plain(member_node(node, "exclude"))
        return {"evictableNamespaces": {"exclude": excluded}} if excluded else {}

    def _note_unknown(self, path: Path, members: Mapping[str, Member], known: Sequence[str]) -> None:
        for key in members:
            if key not in known:
                self.notes.add((*path, key), f"is not converted: it {_WITHOUT_PLACE}{did_you_mean(key, known)}")
            elif key == "weight":
                self.notes.add((*path, key), "is not converted: weights have no effect")

    def _refuse(self, path: Path, message: str) -> None:
        self.notes.add(path, message)
        raise PolicyError(self.notes.found[-1:])

    def _members(self, node: TreeNode) -> Mapping[str, Member]:
        """The members of an object; none of null. Raises PolicyError for another value."""
        if node.value is None:
            return {}
        if not isinstance(node.value, Mapping):
            line, column = (node.mark.line, node.mark.column) if node.mark else (None, None)
            message = f"expected an object, found {kind_of(node)}"
            raise PolicyError([DocumentProblem(self.document.path, line, column, "", message)])
        return node.value
