"""Arguments of one plugin: decoded strictly, validated, defaulted, with every fault placed in the document."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from descheduler.documents.decode import Decoder, Path, Strictness
from descheduler.documents.document import Document, TreeNode, find, member_text
from descheduler.documents.problems import did_you_mean, shown
from descheduler.policy.plugin import ArgsProblem, ExtensionPoint, PluginSpec, ReadSchedulerFile, Registry
from descheduler.policy.plugin_packages import load_failure
from descheduler.policy.shared_args import Args


class PluginConfigSection(Args, frozen=True):
    """One entry of `pluginConfig`, in both kinds of document; `args` is its node, or None."""

    name: str = ""
    """Name of the plugin."""
    args: object = None
    """Arguments of the plugin."""


class ArgsReader(msgspec.Struct, frozen=True):
    """Reads `args` blocks of one document."""

    decoder: Decoder
    duplicates: Literal["error", "warning"]
    """What duplicate keys are inside `args`."""

    def read(self, spec: PluginSpec[Any], node: TreeNode, path: Path) -> msgspec.Struct | None:
        """The arguments at `node`, with the problems of decoding and validating recorded; None if they do not decode.

        Kubernetes' own API kinds are defaulted while decoding, so native plugins are validated after their defaults;
        all others before.
        """
        strictness = Strictness("error", self.duplicates, type_meta=True)
        args = self.decoder.struct(node, spec.args_type, path, strictness)
        if args is None:
            return None
        if spec.native:
            self._check_type_meta(spec, node, path)
        elif (version := member_text(node, "apiVersion")).count("/") > 1:
            message = f"{shown(version)} is not an API version such as group/v1; leave it out"
            self.decoder.problem((*path, "apiVersion"), find(node, ("apiVersion",)).mark, message)
        defaulted: msgspec.Struct = spec.defaults(args)
        self.record(spec.validate(defaulted if spec.native else args), node, path)
        return defaulted

    def record(self, problems: Iterable[ArgsProblem], node: TreeNode, path: Path) -> None:
        """Record what a plugin found in its arguments, which stand at `node`."""
        for problem in problems:
            self.decoder.problem((*path, *problem.path), find(node, problem.path).mark, problem.message)

    def record_construction(
        self, spec: PluginSpec[Any], args: msgspec.Struct, node: TreeNode, path: Path, read: ReadSchedulerFile
    ) -> None:
        """Record what keeps the plugin from being built with `args`, and what it warns of.

        The files that they name are read with `read`.
        """
        self.record((*spec.construction_problems(args), *spec.file_problems(args, read)), node, path)
        for warning in spec.warnings(args):
            self.decoder.warn((*path, *warning.path), find(node, warning.path).mark, warning.message)

    def _check_type_meta(self, spec: PluginSpec[Any], node: TreeNode, path: Path) -> None:
        members = node.value if isinstance(node.value, Mapping) else {}
        for key, expected in (("apiVersion", "descheduler/v1alpha2"), ("kind", f"{spec.name}Args")):
            given = members[key].node if key in members else None
            if given is not None and given.value and given.value != expected:
                message = f"is {shown(str(given.value))}; arguments of {spec.name} need {expected}, or leave it out"
                self.decoder.problem((*path, key), given.mark, message)


def used_strategies(
    document: Document, registry: Registry, enabled: Container[str], sections: Sequence[PluginConfigSection]
) -> dict[tuple[str | int, ...], str]:
    """The strategies that `enabled` plugins run by themselves, by the path below `pluginConfig` that names them.

    What is wrong with those arguments is recorded when they are read for good.
    """
    found = {}
    for index, section in enumerate(sections):
        spec = registry.get(section.name) if section.name in enabled else None
        if spec is None or spec.uses is None or not isinstance(section.args, TreeNode):
            continue
        args = Decoder(document).struct(section.args, spec.args_type, (), Strictness("warning", "warning"))
        for path, name in spec.uses(args).items() if args is not None else ():
            found[index, "args", *path] = name
    return found


def used_strategy_problem(name: str, registry: Registry) -> str | None:
    """What is wrong with a strategy that another plugin is to run."""
    spec = registry.get(name)
    if spec is None:
        return unknown_plugin(name, registry)
    if not spec.extension_points & {"deschedule", "balance"}:
        return f"{name} does not select pods; name a deschedule or balance plugin"
    return None


def unknown_plugin(name: str, known: Iterable[str]) -> str:
    """What to say about a plugin that is not in the registry, whose names are `known`."""
    if failure := load_failure(name, known):
        return f"plugin {shown(name)}: {failure}"
    names = sorted(known)
    return f"unknown plugin {shown(name)}{did_you_mean(name, names) or '; known are ' + ', '.join(names)}"


def wrong_extension_point(spec: PluginSpec[Any], used: str, offered: Iterable[ExtensionPoint]) -> str:
    """What to say about a plugin that does not implement the extension point it is listed under."""
    places = sorted(point.lower() for point in spec.extension_points & set(offered))
    if not places:
        return f"plugin {shown(spec.name)} is not a {used} plugin"
    lists = " or ".join(f"plugins.{place}.enabled" for place in places)
    return f"{spec.name} is a {' and '.join(places)} plugin, not a {used} plugin; move it to {lists}"
