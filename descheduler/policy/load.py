"""Policy documents in, policies out: the entry to this package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from descheduler.documents.document import TreeNode, kind_of
from descheduler.documents.problems import DocumentProblem, PolicyError, did_you_mean, shown
from descheduler.documents.source import read_document
from descheduler.policy.checks import Checks, in_order
from descheduler.policy.koordinator.descheduler_configuration import read_descheduler_configuration
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy
from descheduler.policy.upstream.descheduler_policy import empty_policy, read_descheduler_policy

_INTERNAL_VERSIONS = ("", "/", "descheduler/", "descheduler/__internal")
"""Versions for which upstream decodes into its internal type, where no field has the documented name."""


def _type_meta(checks: Checks, root: TreeNode) -> tuple[str, str] | None:
    """`apiVersion` and `kind` of the document, empty when absent; None, with the problem recorded, for no strings.

    These two keys alone count in any letter case, the last one said: Kubernetes finds out the kind of a document with
    Go's own JSON decoder (`k8s.io/apimachinery` 0.36 `pkg/runtime/serializer/json/meta.go`). A key of YAML comes after
    those that sort before it, since YAML is made JSON first.
    """
    api_version, kind = _text(checks, root, "apiVersion"), _text(checks, root, "kind")
    return None if api_version is None or kind is None else (api_version, kind)


def _text(checks: Checks, root: TreeNode, key: str) -> str | None:
    members = root.value if isinstance(root.value, Mapping) else {}
    spellings = [spelling for spelling in members if spelling.casefold() == key.casefold()]
    text = ""
    for spelling in sorted(spellings) if checks.load.document.form == "yaml" else spellings:
        for node in (*members[spelling].earlier, members[spelling].node):
            if isinstance(node.value, str):
                text = node.value
            elif node.value is not None:
                checks.load.problem((spelling,), node.mark, f"expected a string, found {kind_of(node)}")
                return None
    return text


_API_VERSION = "descheduler/v1alpha2"
_OLD_API_VERSION = "descheduler/v1alpha1"
_CONVERSION = "convert the policy with 'descheduler convert', see docs/how-to/from-upstream.md"
_READERS = {
    "DeschedulerPolicy": read_descheduler_policy,
    "DeschedulerConfiguration": read_descheduler_configuration,
}


class LoadedPolicy(msgspec.Struct, frozen=True):
    """A policy that loads, and what keeps its plugins from being built."""

    policy: Policy
    profile_problems: tuple[DocumentProblem, ...]


def load_policy(source: Path | str | Mapping[str, object], registry: Registry, *, name: str | None = None) -> Policy:
    """The policy in `source`: a Path to read, YAML or JSON text, or an object as `json.loads` gives it.

    `name` stands for the file in messages. Raises PolicyError with every problem found.
    """
    loaded = inspect_policy(source, registry, name=name)
    if loaded.profile_problems:
        raise PolicyError(loaded.profile_problems, stage="profile", warnings=loaded.policy.warnings)
    return loaded.policy


def inspect_policy(
    source: Path | str | Mapping[str, object], registry: Registry, *, name: str | None = None
) -> LoadedPolicy:
    """As `load_policy`, but returns a policy that cannot be built, with the reasons; useful to show or to convert it.

    Raises PolicyError only for a document that does not load. It then names the problems of both stages.
    """
    document = read_document(source, name)
    checks = Checks.of(document, source.parent if isinstance(source, Path) else None)
    for mark, note in document.notes:
        checks.load.warn((), mark, note)
    policy = _read(checks, registry)
    if checks.load.problems or policy is None:
        problems = in_order([*checks.load.problems, *checks.build.problems])
        raise PolicyError(problems, warnings=checks.warnings())
    _check_neighbours(checks, policy, registry)
    policy = replace(policy, scheduler_files=checks.scheduler_files, warnings=checks.warnings())
    return LoadedPolicy(policy, in_order(checks.build.problems))


def _read(checks: Checks, registry: Registry) -> Policy | None:
    root = checks.load.document.root
    if root.value is not None and not isinstance(root.value, Mapping):
        checks.fail_load((), f"expected a policy object with apiVersion and kind, found {kind_of(root)}")
        return None
    stated = _type_meta(checks, root)
    if stated is None:
        return None
    api_version, kind = stated
    if api_version in _INTERNAL_VERSIONS:
        if kind in ("", "DeschedulerPolicy") and not _wants_fixes(root):
            return empty_policy(checks)
        checks.fail_load((), f"apiVersion is missing; add 'apiVersion: {_API_VERSION}'")
        return None
    reader = _READERS.get(kind or "DeschedulerPolicy")
    if api_version != _API_VERSION:
        way_out = f"; {_CONVERSION}" if api_version == _OLD_API_VERSION else ""
        checks.fail_load(("apiVersion",), f"{shown(api_version)} is not supported, only {_API_VERSION}{way_out}")
    elif reader is None:
        known = " and ".join(_READERS)
        checks.fail_load(("kind",), f"{shown(kind)} is not supported, only {known}{did_you_mean(kind, _READERS)}")
    else:
        return reader(checks, registry)
    return None


def _check_neighbours(checks: Checks, policy: Policy, registry: Registry) -> None:
    """Plugins that have little effect beside others of their profile, or that need others with certain arguments."""
    for index, profile in enumerate(policy.profiles):
        enabled = dict.fromkeys(
            (*profile.deschedule, *profile.balance, *profile.filter, *profile.pre_eviction_filter, *profile.evict)
        )
        for name in enabled:
            spec = registry.get(name)
            for other, message in spec.beside.items() if spec is not None else ():
                if other in enabled:
                    checks.warn(("profiles", index, "plugins"), message)
        has_reservations = any(
            registry[name].creates_reservations(args) for name, args in profile.args.items() if name in profile.evict
        )
        for config in profile.plugin_configs:
            spec = registry[config.name]
            for problem in spec.profile_problems(config.args, has_reservations) if config.name in enabled else ():
                checks.fail_build((*config.args_path, *problem.path), problem.message)
        for name in profile.used:
            if name in enabled:
                message = f"{name} is enabled, and another plugin plans for the pods that it selects"
                checks.warn(("profiles", index, "plugins"), f"{message}; remove it from plugins")


def _wants_fixes(root: TreeNode) -> bool:
    """Whether the document says `compatibility: fixed`, which makes a forgotten `apiVersion` an error."""
    member = root.value.get("compatibility") if isinstance(root.value, Mapping) else None
    return member is not None and member.node.value == "fixed"
