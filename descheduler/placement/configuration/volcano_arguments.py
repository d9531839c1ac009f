"""What the release of Volcano makes of a `volcano-scheduler.conf`, and the arguments of its plugins and actions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from descheduler.documents.decode import Path
from descheduler.documents.document import TreeNode, kind_of
from descheduler.documents.problems import did_you_mean, shown
from descheduler.policy.checks import Checks

_RELEASE = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?", re.ASCII)
MODELLED_ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim")
"""In the order in which messages list them."""
_UNMEASURED = "queue states and hierarchies, network topology, nominated nodes"


class VolcanoVersion(msgspec.Struct, frozen=True, order=True):
    """The release of Volcano that schedules. Behaviour is that of 1.10, which was measured."""

    major: int = 1
    minor: int = 10

    @classmethod
    def parse(cls, text: str) -> VolcanoVersion:
        """The release of `1.14`, `v1.14` or `1.14.2`. Raises ValueError for anything else."""
        found = _RELEASE.fullmatch(text)
        if found is None:
            raise ValueError(f"{shown(text)} is not a release of Volcano, for example 1.14")
        return cls(int(found[1]), int(found[2]))

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that a configuration may name."""
        known = (*MODELLED_ACTIONS, "shuffle")
        return (*known, "gangpreempt", "gangreclaim") if self >= _WITH_GANG_ACTIONS else known

    @property
    def reads_quoted_bools(self) -> bool:
        """Whether `"true"` is a boolean argument."""
        return self > MEASURED

    @property
    def doubt(self) -> str:
        """Why a session of this release may decide otherwise than the modelled one; "" for the release measured."""
        return (
            "" if self == MEASURED else f"Volcano {self.major}.{self.minor} differs from Volcano 1.10 ({_UNMEASURED})"
        )


MEASURED = VolcanoVersion()
_WITH_GANG_ACTIONS = VolcanoVersion(1, 16)


ArgumentValue: TypeAlias = bool | int | float | str
KnownArguments: TypeAlias = Mapping[str, "type | KnownArguments"]
"""Key → the type of its value, or what is read of the object there; a key that ends with `*` is all that begin so."""
_MODES = {"GPUSharingEnable": bool, "GPUNumberEnable": bool, "VGPUEnable": bool, "NodeLockEnable": bool}
KNOWN_ARGUMENTS: Mapping[str, KnownArguments] = {
    "binpack": {
        "binpack.weight": int,
        "binpack.cpu": int,
        "binpack.memory": int,
        "binpack.resources": str,
        "binpack.resources.*": int,
    },
    "deviceshare": {
        **{f"deviceshare.{name}": kind for name, kind in _MODES.items()},
        "deviceshare.SchedulePolicy": str,
        "deviceshare.ScheduleWeight": int,
        "deviceshare.KnownGeometriesCMName": str,
        "deviceshare.KnownGeometriesCMNamespace": str,
    },
    "nodeorder": {
        f"{name}.weight": int
        for name in (
            "leastrequested",
            "mostrequested",
            "balancedresource",
            "nodeaffinity",
            "podaffinity",
            "tainttoleration",
            "imagelocality",
            "podtopologyspread",
        )
    },
    "nodegroup": {},
    "overcommit": {"overcommit-factor": float},
    "predicates": {
        **{
            f"predicate.{name}Enable": bool
            for name in (
                "NodeAffinity",
                "NodePorts",
                "TaintToleration",
                "PodAffinity",
                "NodeVolumeLimits",
                "VolumeZone",
                "PodTopologySpread",
                "VolumeBinding",
                "DynamicResourceAllocation",
                "Proportional",
                "Cache",
            )
        },
        "predicate.resources": str,
        "predicate.resources.*": float,
    },
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": int,
        "resources": {"*": {"type": str, "weight": int}},
        "sra": {"enable": bool, "resources": str, "weight": int, "resourceWeight": {"*": int}},
        "proportional": {"enable": bool, "resources": str, "resourceProportion": {"*": float}},
    },
    "sla": {"sla-waiting-time": str},
    "tdm": {"tdm.revocable-zone.*": str, "tdm.evict.period": str},
}
"""What the modelled plugins read, by plugin."""
_NAMES = {int: "an integer", float: "a number", bool: "a boolean", str: "a string"}


class Arguments(msgspec.Struct, frozen=True):
    """Arguments of a plugin or an action that have the type that it reads."""

    values: Mapping[str, ArgumentValue | Arguments] = {}

    def whole(self, key: str, default: int) -> int:
        """An integer."""
        found = self.values.get(key, default)
        return found if isinstance(found, int) else default

    def number(self, key: str, default: float) -> float:
        found = self.values.get(key, default)
        return float(found) if isinstance(found, int | float) else default

    def switch(self, key: str, *, default: bool) -> bool:
        """A boolean."""
        found = self.values.get(key, default)
        return found if isinstance(found, bool) else default

    def text(self, key: str) -> str:
        """A text, empty without one."""
        found = self.values.get(key, "")
        return found if isinstance(found, str) else ""

    def names(self, key: str) -> list[str]:
        """The names in a text that separates them by commas."""
        return [name for part in self.text(key).split(",") if (name := part.strip())]

    def part(self, key: str) -> Arguments:
        """The arguments of an object, empty without one."""
        found = self.values.get(key)
        return found if isinstance(found, Arguments) else Arguments()


class ArgumentReader(msgspec.Struct, frozen=True):
    """Reads arguments as `version` does, and records what it does not read."""

    checks: Checks
    version: VolcanoVersion

    def read(self, node: object, path: Path, known: KnownArguments | None) -> Arguments:
        """Those that are read; of whoever says nothing of its arguments (`known` is None) those that are no objects."""
        if not isinstance(node, TreeNode) or node.value is None:
            return Arguments()
        if not isinstance(node.value, Mapping):
            self.checks.fail_load(path, f"expected an object, found {kind_of(node)}")
            return Arguments()
        found: dict[str, ArgumentValue | Arguments] = {}
        for key, member in node.value.items():
            kind = type(member.node.value) if known is None else _kind_of(key, known)
            if kind is None:
                self.checks.warn((*path, key), f"is not read{did_you_mean(key, known or ())}")
            elif known is None and not isinstance(member.node.value, ArgumentValue):
                continue
            elif (read := self._value(member.node, (*path, key), kind)) is not None:
                found[key] = read
        return Arguments(found)

    def _value(self, node: TreeNode, path: Path, kind: type | KnownArguments) -> ArgumentValue | Arguments | None:
        value = node.value
        if isinstance(kind, Mapping):
            if isinstance(value, Mapping):
                return self.read(node, path, kind)
        elif isinstance(value, ArgumentValue) and (read := self._scalar(value, kind)) is not None:
            return read
        wanted = "an object" if isinstance(kind, Mapping) else _NAMES.get(kind, "a scalar")
        self.checks.warn(path, f"expected {wanted}, found {kind_of(node)}; the default holds")
        return None

    def _scalar(self, value: ArgumentValue, kind: type) -> ArgumentValue | None:
        if kind is bool and self.version.reads_quoted_bools and value in ("true", "false"):
            return value == "true"
        if type(value) is kind:
            return value
        return float(value) if kind is float and type(value) is int else None


def _kind_of(key: str, known: KnownArguments) -> type | KnownArguments | None:
    if key in known:
        return known[key]
    return next((kind for name, kind in known.items() if name.endswith("*") and key.startswith(name[:-1])), None)
