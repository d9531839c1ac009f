"""Arguments of scheduling plugins: how a plugin reads those of `pluginConfig`, and those in use in a profile.

Which arguments there are, and what is wrong with some, is for each plugin to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from descheduler.documents.decode import Path, Strictness
from descheduler.documents.document import TreeNode
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.kube_version import KubeVersion
from descheduler.policy.checks import Checks

SCHEDULER_API_VERSION = "kubescheduler.config.k8s.io/v1"
"""The only version that kube-scheduler reads since Kubernetes 1.29."""

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]

ArgsType = TypeVar("ArgsType")


class ArgsBlock(msgspec.Struct, frozen=True):
    """The `args` of one entry of `pluginConfig`: where they stand, where findings about them go, and who reads them."""

    checks: Checks
    path: Path
    release: KubeVersion

    def fail(self, path: Path, message: str) -> None:
        """Record a problem at `path` below the arguments."""
        self.checks.fail_load((*self.path, *path), message)

    def warn(self, path: Path, message: str) -> None:
        """Record a warning at `path` below the arguments."""
        self.checks.warn((*self.path, *path), message)

    def choose(self, path: Path, text: str, known: Sequence[str]) -> None:
        """Record a problem unless `text`, which stands at `path`, is one of `known`."""
        if not text:
            self.fail(path, f"is missing; give one of {', '.join(known)}")
        elif text not in known:
            self.fail(path, f"{shown(text)} is not one of {', '.join(known)}{did_you_mean(text, known)}")


class ArgsKind(msgspec.Struct, Generic[ArgsType], frozen=True):
    """The arguments of one plugin.

    `section` is their type as written: its docstrings are their documentation. `read` checks a section and gives the
    value in use, None where that is the default. `in_use` is the type of that value, which without arguments has the
    defaults; None of a plugin whose arguments change nothing here. `shown` are values in the spelling of the document,
    to compare. `ignoring` is what becomes of them where extenders take resources off the scheduler's hands.
    """

    section: type[msgspec.Struct]
    read: Callable[[ArgsBlock, Any], ArgsType | None]
    in_use: type[ArgsType] | None = None
    shown: Callable[[ArgsType], Mapping[str, object]] = lambda args: {}
    ignoring: Callable[[ArgsType, frozenset[str]], ArgsType] | None = None


@dataclass(frozen=True)
class PluginArgs:
    """The arguments in use in a profile, by their type. Those that are as by default are left out."""

    changed: Mapping[type, object] = field(default_factory=dict)

    @classmethod
    def made_of(cls, *values: object) -> PluginArgs:
        """These arguments, and the defaults of all other plugins."""
        return cls({type(value): value for value in values if value != type(value)()})

    def of(self, in_use: type[ArgsType]) -> ArgsType:
        """The arguments of this type."""
        known = self.changed.get(in_use)
        return known if isinstance(known, in_use) else in_use()

    def replaced(self, value: object) -> PluginArgs:
        """The same with `value` in place of the arguments of its type."""
        others = (other for kind, other in self.changed.items() if kind is not type(value))
        return PluginArgs.made_of(*others, value)


def read_plugin_args(
    checks: Checks, name: str, kind: ArgsKind[Any], node: TreeNode, path: Path, release: KubeVersion
) -> object | None:
    """The arguments of the plugin `name` in `node`, which stands at `path`; None where they are as by default.

    They are decoded strictly, checked and defaulted as kube-scheduler of `release` does. What is wrong with them is
    recorded in `checks`.
    """
    section = checks.load.struct(node, kind.section, path, Strictness("error", "error", type_meta=True))
    block = ArgsBlock(checks, path, release)
    _check_type_meta(block, name, node)
    return None if section is None else kind.read(block, section)


def _check_type_meta(block: ArgsBlock, name: str, node: TreeNode) -> None:
    members = node.value if isinstance(node.value, Mapping) else {}
    for key, expected in (("apiVersion", SCHEDULER_API_VERSION), ("kind", f"{name}Args")):
        given = members[key].node.value if key in members else None
        if isinstance(given, str) and given not in ("", expected):
            block.fail((key,), f"is {shown(given)}; arguments of {name} need {expected}, or leave it out")


class ByDefault(msgspec.Struct, frozen=True):
    """That kube-scheduler runs a plugin by default: with which weight, and under which feature gate, if any.

    Without the gate `leads_without` it runs before the plugin that it follows in the table.
    """

    weight: int | None = None
    gate: str = ""
    leads_without: str = ""


class PluginSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`points` are the extension points that a plugin implements, by the fields of `PluginsSection`.

    `multiPoint` of a profile enables it at these. `by_default` is None for one that a profile has to enable. At the
    points `prepared_for` it fails without what it leaves there for itself at PreFilter, or at PreScore for Score.
    `scoring_gate` names a gate without which it does not score, although it implements that point; empty for none.
    `args` are its arguments, None where it takes none.
    """

    points: frozenset[str]
    by_default: ByDefault | None = None
    prepared_for: frozenset[str] = frozenset()
    scoring_gate: str = ""
    args: ArgsKind[Any] | None = None
