"""Small scheduler configurations with one line per fact that matters."""

from __future__ import annotations

import textwrap

from descheduler.documents.problems import PolicyError
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.table import PLUGINS

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
"""Two lines: what follows starts on line 3."""


def scheduler(body: str = "") -> str:
    """A KubeSchedulerConfiguration with `body` from line 3 on."""
    return HEADER + textwrap.dedent(body)


def with_plugins(plugins: str) -> str:
    """A configuration of one profile, whose `plugins` stand on line 5, from column 12, in flow style."""
    return scheduler(f"profiles:\n- schedulerName: own\n  plugins: {plugins}\n")


def with_args(plugin: str, args: str) -> str:
    """A configuration that configures `plugin`, on line 6, with `args` in flow style, on line 7 from column 11."""
    return scheduler(f"profiles:\n- schedulerName: own\n  pluginConfig:\n  - name: {plugin}\n    args: {args}\n")


def load(text: str) -> SchedulerConfiguration:
    """The configuration in `text`, under the name `scheduler.yaml`."""
    return load_scheduler_configuration(text, name="scheduler.yaml", plugins=PLUGINS)


def profile_with(plugins: str) -> SchedulerProfile:
    """The one profile of `with_plugins`."""
    (profile,) = load(with_plugins(plugins)).profiles
    return profile


def args_with(plugin: str, args: str) -> PluginArgs:
    """The arguments in use of `with_args`."""
    (profile,) = load(with_args(plugin, args)).profiles
    return profile.args


def problems(text: str) -> list[str]:
    """Every problem that keeps `text` from loading."""
    try:
        load(text)
    except PolicyError as error:
        return [str(problem) for problem in error.problems]
    return []


def warnings(text: str) -> list[str]:
    """Every warning about `text`."""
    return [str(warning) for warning in load(text).warnings]
