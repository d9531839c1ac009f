"""Small policy documents with one line per fact that matters."""

from __future__ import annotations

import json
import textwrap

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import inspect_policy, load_policy
from descheduler.policy.types import Policy

UPSTREAM = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n"
"""Two lines: what follows starts on line 3."""
KOORDINATOR = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n"


def upstream(body: str = "") -> str:
    """A DeschedulerPolicy with `body` from line 3 on."""
    return UPSTREAM + textwrap.dedent(body)


def koordinator(body: str = "") -> str:
    """A DeschedulerConfiguration with `body` from line 3 on."""
    return KOORDINATOR + textwrap.dedent(body)


def with_args(plugin: str, args: str) -> str:
    """A DeschedulerPolicy that configures `plugin`, on line 6, with `args` in flow style, on line 7 from column 11."""
    return upstream(f"profiles:\n- name: p\n  pluginConfig:\n  - name: {plugin}\n    args: {args}\n")


def planning(*configured: str, strategies: str = "RemoveDuplicates", enabled: str = "", native: bool = False) -> str:
    """A policy whose planner repairs what `strategies` find, with empty arguments of the `configured` plugins."""
    args = {"objectives": [{"repairViolations": {"strategies": [strategies]}}]}
    config = [{"name": "MigrationPlanner", "args": args}, *({"name": name, "args": {}} for name in configured)]
    names = ["MigrationPlanner", *([enabled] if enabled else [])]
    plugins = {"balance": {"enabled": [{"name": name} for name in names] if native else names}}
    profile = json.dumps({"name": "p", "pluginConfig": config, "plugins": plugins})
    return (koordinator if native else upstream)(f"profiles: [{profile}]\n")


def messages(text: str) -> list[str]:
    """Every problem of `text` that keeps it from loading, or from being built."""
    try:
        loaded = inspect_policy(text, REGISTRY, name="policy.yaml")
    except PolicyError as error:
        return [str(problem) for problem in error.problems]
    return [str(problem) for problem in loaded.profile_problems]


def warnings(text: str) -> list[str]:
    """Every warning about `text`."""
    loaded = inspect_policy(text, REGISTRY, name="policy.yaml")
    return [str(warning) for warning in loaded.policy.warnings]


def load(text: str) -> Policy:
    """The policy in `text`, which is called policy.yaml."""
    return load_policy(text, REGISTRY, name="policy.yaml")


def args_of(plugin: str, args: str) -> object:
    """The arguments of `plugin` that are read from `args` in flow style."""
    return load(with_args(plugin, args)).profiles[0].args[plugin]
