"""`descheduler explain plugin`: what a plugin does, its arguments, who runs it, and what it decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.placement_verification import PlacementVerificationArgs
from descheduler.explanation.docs.arguments import argument_docs, default_json
from descheduler.explanation.docs.plugins import about_arguments, points_of, procedure_of, purpose_of
from descheduler.explanation.subjects import find_plugin
from descheduler.explanation.watching.watched_run import WatchedRun
from descheduler.model.verdict import Reason
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.default_plugins import POINTS, field_of
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsKind, PluginArgs
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.table import PLUGINS
from descheduler.plan.staying import staying_pods
from descheduler.policy.plain_values import args_to_document
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy, Profile
from descheduler.report.explanation.plugin import PluginDecisions, PluginExplanation, PluginUse
from descheduler.report.facts import facts_of

__all__ = ["explain_plugin"]

_LANDING_REASONS = frozenset(
    {
        Reason.NO_LANDING,
        Reason.ELASTIC_QUOTA,
        Reason.CONDITIONAL_LANDING,
        Reason.UNKNOWN_LANDING,
        Reason.RETURNS_TO_SOURCE,
        Reason.SELECTED_AGAIN,
        Reason.OTHER_LANDING,
        Reason.NO_GAIN,
    }
)


def explain_plugin(
    name: str,
    *,
    policy: Policy | None,
    scheduling: SchedulerConfiguration,
    run: WatchedRun | None = None,
    registry: Registry = REGISTRY,
) -> PluginExplanation:
    """The explanation of the plugin `name`, in any case of letters; with a `run`, also what it decided there.

    Raises UnknownSubjectError.
    """
    name = find_plugin((*registry, *PLUGINS), name)
    if name not in registry:
        return _scheduling(name, scheduling)
    spec = registry[name]
    note = about_arguments(spec)
    uses = () if policy is None else tuple(_uses(name, policy))
    return PluginExplanation(
        name=name,
        kind="descheduling",
        summary=purpose_of(spec),
        about=(*procedure_of(spec), *((note,) if note else ())),
        points=points_of(spec),
        reasons=(),
        arguments=tuple(argument_docs(spec.defaults(spec.args_type()))),
        uses=uses,
        not_enabled="" if policy is None or uses else _not_enabled(name, points_of(spec), policy),
        decisions=() if run is None else tuple(_decisions(name, run)),
    )


def _scheduling(name: str, configuration: SchedulerConfiguration) -> PluginExplanation:
    row = PLUGINS[name]
    about = row.about
    preference = f"Prefers {about.preference[:1].lower()}{about.preference[1:]}" if about.preference else ""
    return PluginExplanation(
        name=name,
        kind="scheduling",
        summary=about.check or preference,
        about=(preference,) if about.check and preference else (),
        points=tuple(field_of(point) for point in POINTS if point in row.points),
        reasons=about.reasons,
        arguments=() if row.args is None else tuple(argument_docs(row.args.section())),
        uses=tuple(use for profile in configuration.profiles for use in _scheduler_use(name, profile)),
        not_enabled="",
        decisions=(),
    )


def _uses(name: str, policy: Policy) -> Iterator[PluginUse]:
    for profile in policy.profiles:
        points = tuple(point for point, names in _sets(profile).items() if name in names)
        if points:
            args = args_to_document(profile.args[name])
            shown = {key: text for key, value in args.items() if (text := default_json(value))}
            yield PluginUse(profile=profile.name, points=points, weight=None, args=shown)


def _not_enabled(name: str, points: Sequence[str], policy: Policy) -> str:
    """That no profile runs the plugin, and what to add; a pluginConfig entry alone does not enable it."""
    lists = " and ".join(f"plugins.{point}.enabled" for point in points)
    is_configured = any(config.name == name for profile in policy.profiles for config in profile.plugin_configs)
    configured = "" if is_configured else f", and - name: {name} to its pluginConfig"
    return f"{name} is not enabled in this policy; add it to {lists} of a profile{configured}"


def _sets(profile: Profile) -> dict[str, tuple[str, ...]]:
    return {
        "deschedule": profile.deschedule,
        "balance": profile.balance,
        "filter": profile.filter,
        "preEvictionFilter": profile.pre_eviction_filter,
        "evict": profile.evict,
    }


def _scheduler_use(name: str, profile: SchedulerProfile) -> Iterator[PluginUse]:
    weight = dict(profile.scores).get(name)
    sets = {
        "preEnqueue": profile.pre_enqueue,
        "preFilter": profile.pre_filters,
        "filter": profile.filters,
        "postFilter": profile.post_filters,
        "score": tuple(dict(profile.scores)),
    }
    points = tuple(point for point, names in sets.items() if name in names)
    if points:
        yield PluginUse(
            profile=profile.scheduler_name,
            points=points,
            weight=weight,
            args=_changed_args(PLUGINS[name].args, profile.args),
        )


def _changed_args(kind: ArgsKind[Any] | None, args: PluginArgs) -> dict[str, str]:
    """Argument → value as JSON, for those that differ from the defaults."""
    if kind is None or kind.in_use is None:
        return {}
    usual = kind.shown(kind.in_use())
    in_use = kind.shown(args.of(kind.in_use))
    return {name: json.dumps(value) for name, value in in_use.items() if value != usual[name]}


def _decisions(name: str, run: WatchedRun) -> Iterator[PluginDecisions]:
    """What it asked for and what it refused; a plugin that did neither in a profile is left out there."""
    for profile in run.decisions.policy.profiles:
        points = [point for point, names in _sets(profile).items() if name in names]
        if "deschedule" in points or "balance" in points:
            yield _asked(name, profile.name, run)
        elif "filter" in points or "preEvictionFilter" in points:
            refused = _refused(name, profile, run)
            yield PluginDecisions(
                profile=profile.name, evicted=0, evicted_by_others=0, refused=refused, goals=(), facts=None
            )


def _refused(name: str, profile: Profile, run: WatchedRun) -> dict[str, int]:
    """Pods that a filter refused by code. PlacementVerification has the last word at each request as well."""
    refused = {code: set(pods) for code, pods in run.watch.refused.get((profile.name, name), {}).items()}
    if isinstance(profile.args[name], PlacementVerificationArgs):
        for refusal in run.decisions.refusals:
            if refusal.profile == profile.name and refusal.verdict.reason in _LANDING_REASONS:
                refused.setdefault(str(refusal.verdict.reason.value), set()).add(id(refusal.pod))
    return _most_first({code: len(pods) for code, pods in refused.items()})


def _asked(name: str, profile: str, run: WatchedRun) -> PluginDecisions:
    mine = {id(move.pod) for move in run.decisions.leaving if (move.profile, move.plugin) == (profile, name)}
    leaving = {id(move.pod) for move in run.decisions.leaving}
    blocked = _blocked(name, profile, run)
    found = run.decisions.facts.get((profile, name))
    return PluginDecisions(
        profile=profile,
        evicted=len(mine),
        evicted_by_others=len((run.watch.wanted_by(profile, name) & leaving) - mine),
        refused=blocked,
        goals=() if found is None else tuple(goal.sentence for goal in found.goals),
        facts=facts_of(run.decisions, profile, name, blocked),
    )


def _blocked(name: str, profile: str, run: WatchedRun) -> dict[str, int]:
    """Pods by code that the plugin selected and that stay, also those that an earlier plugin selected, too."""
    staying = staying_pods(run.decisions)
    remaining = {id(each.pod) for each in staying}
    blocked = {code: pods & remaining for code, pods in run.watch.turned_down(profile, name).items()}
    for refusal in (refusal for each in staying for refusal in (each.first, *each.others)):
        if (refusal.profile, refusal.plugin) == (profile, name):
            blocked.setdefault(refusal.verdict.code, set()).add(id(refusal.pod))
    return _most_first({code: len(pods) for code, pods in blocked.items() if pods})


def _most_first(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
