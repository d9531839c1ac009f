"""A plugin: what it does, its arguments, who runs it, and what it decided."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.placement_verification import PlacementVerificationArgs
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.docs.arguments import (
    PluginArgument,
    about_arguments,
    argument_docs,
    default_json,
    points_of,
    procedure_of,
    purpose_of,
)
from descheduler.explanation.finding import find_plugin
from descheduler.explanation.watched_run import WatchedRun
from descheduler.model.text.counted import most_first
from descheduler.model.verdict import Reason
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.default_plugins import POINTS, field_of
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsKind, PluginArgs
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.table import PLUGINS
from descheduler.plan.facts import NearestValue
from descheduler.plan.staying import staying_pods
from descheduler.policy.effective import args_to_document
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy, Profile
from descheduler.report.facts import ReportedFacts, facts_of
from descheduler.report.tables.table_style import TableStyle


class PluginUse(Fields, frozen=True):
    """One profile that runs the plugin. `args` are those in use as JSON by name, without what is unset.

    `weight` is that of a scheduling plugin's score, null for all others.
    """

    profile: str
    points: tuple[str, ...]
    weight: int | None
    args: Mapping[str, str]


class PluginDecisions(Fields, frozen=True):
    """What the plugin did in one run over the snapshot, in one profile, and what it examined.

    A plugin that selects pods has `evicted` pods, and counts those that it selected and that are not evicted by
    reason code; `evicted_by_others` pods are selected by the plugin, too, and evicted by another one. A plugin that
    filters counts the pods that it refused by code. A pod counts once for each code. `goals` are
    the sentences of a planner about its goals. `facts` are null for a filter, and for a plugin that failed.
    """

    profile: str
    evicted: int
    evicted_by_others: int
    refused: Mapping[str, int]
    goals: tuple[str, ...]
    facts: ReportedFacts | None


class PluginExplanation(Fields, frozen=True):
    """Everything about one plugin. `kind` is `descheduling` for plugins of a policy, `scheduling` for plugins of
    kube-scheduler.

    `reasons` are the words with which a scheduling plugin refuses nodes or pods. `uses` is empty when nothing that was
    given enables the plugin; `not_enabled` then says so of a policy and where to add it, else it is empty. `decisions`
    is empty without a policy and a snapshot.
    """

    name: str
    kind: Literal["descheduling", "scheduling"]
    summary: str
    about: tuple[str, ...]
    points: tuple[str, ...]
    reasons: tuple[str, ...]
    arguments: tuple[PluginArgument, ...]
    uses: tuple[PluginUse, ...]
    not_enabled: str
    decisions: tuple[PluginDecisions, ...]


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
    uses = () if policy is None else tuple(_policy_uses(name, policy))
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
        decisions=() if run is None else tuple(_decisions_in(name, run)),
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


def _policy_uses(name: str, policy: Policy) -> Iterator[PluginUse]:
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


def _decisions_in(name: str, run: WatchedRun) -> Iterator[PluginDecisions]:
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
    return dict(most_first({code: len(pods) for code, pods in refused.items()}))


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
    return dict(most_first({code: len(pods) for code, pods in blocked.items() if pods}))


_WIDEST = 120


def plugin_table(explanation: PluginExplanation, style: TableStyle) -> Iterator[str]:
    """What it does, its words and arguments, who runs it, and what it did."""
    of = "scheduler plugin" if explanation.kind == "scheduling" else "plugin"
    yield style.palette.heading(f"{explanation.name} ({', '.join(explanation.points)} {of})")
    yield ""
    for paragraph in (explanation.summary, *explanation.about):
        yield from textwrap.wrap(paragraph, min(style.width or _WIDEST, _WIDEST), break_on_hyphens=False)
        yield ""
    yield from style.table(["REASON IN EVENTS"], [[reason] for reason in explanation.reasons])
    yield from _arguments(explanation, style)
    if explanation.uses:
        yield from _uses(explanation.uses, style)
    if explanation.not_enabled:
        yield style.palette.heading(explanation.not_enabled)
        yield ""
    yield from _decisions(explanation, style)
    yield from plugin_facts_tables(explanation.decisions, style)


def _arguments(explanation: PluginExplanation, style: TableStyle) -> Iterator[str]:
    """All arguments in wide tables, else without the parts of parts that most plugins share."""
    shown = [a for a in explanation.arguments if style.is_wide or not a.name.startswith(_SHARED)]
    rows = [[a.name, a.type_text, a.default, a.meaning] for a in shown]
    yield from style.table(["ARGUMENT", "TYPE", "DEFAULT", "MEANING"], rows)


_SHARED = tuple(f"{name}." for name in ("namespaces", "labelSelector", "namespaceLabelSelector", "priorityThreshold"))


def _uses(uses: tuple[PluginUse, ...], style: TableStyle) -> Iterator[str]:
    rows = [
        [
            use.profile,
            ", ".join(use.points),
            "" if use.weight is None else str(use.weight),
            ", ".join(f"{name}: {value}" for name, value in use.args.items()) or "defaults",
        ]
        for use in uses
    ]
    if all(use.weight is None for use in uses):
        yield from style.table(["PROFILE", "RUNS AT", "ARGUMENTS"], [[*row[:2], row[3]] for row in rows])
    else:
        yield from style.table(["PROFILE", "RUNS AT", "WEIGHT", "ARGUMENTS"], rows)


def _decisions(explanation: PluginExplanation, style: TableStyle) -> Iterator[str]:
    is_strategy = not {"deschedule", "balance"}.isdisjoint(explanation.points)
    is_shared = any(each.evicted_by_others for each in explanation.decisions)
    rows = []
    for each in explanation.decisions:
        refused = ", ".join(f"{code} {number}" for code, number in each.refused.items()) or "none"
        evicted = [str(each.evicted)] if is_strategy else []
        rows.append([each.profile, *evicted, *([str(each.evicted_by_others)] if is_shared else []), refused])
    header = ["PODS EVICTED"] if is_strategy else []
    header += [*(["EVICTED BY ANOTHER PLUGIN"] if is_shared else [])]
    yield from style.table(["PROFILE", *header, "SELECTED, NOT EVICTED" if is_strategy else "PODS REFUSED"], rows)
    for each in explanation.decisions:
        for goal in each.goals:
            yield from style.paragraph(f"Goal of profile {each.profile}: {goal}", indent="  ")
    if any(each.goals for each in explanation.decisions):
        yield ""


def plugin_facts_tables(decisions: Sequence[PluginDecisions], style: TableStyle) -> Iterator[str]:
    """Which pods were left out by which rule, the nodes by class, what came nearest to limits, and why nothing goes."""
    known = [(each.profile, each.facts) for each in decisions if each.facts is not None]
    yield from style.table(
        ["PROFILE", "PODS EXAMINED", "SELECTED", "LEFT OUT BY"],
        [[name, f"{f.pods_examined:,}", f"{f.pods_selected:,}", _left_out(f)] for name, f in known],
    )
    yield from style.table(
        ["PROFILE", "NODES UNDER", "BETWEEN", "OVER THRESHOLDS"],
        [[name, f"{n.under:,}", f"{n.between:,}", f"{n.over:,}"] for name, f in known if (n := f.nodes) is not None],
    )
    yield from style.table(
        ["PROFILE", "LIMIT", "NEAREST VALUE", "OF"],
        [[name, f"{n.key}: {_number(n.limit)}", _value(n), n.subject] for name, f in known for n in f.nearest],
    )
    yield from style.table(
        ["PROFILE", "WHY NOTHING IS EVICTED"], [[name, f.why_nothing] for name, f in known if f.why_nothing]
    )


def _left_out(facts: ReportedFacts) -> str:
    return ", ".join(f"{key} {number:,}" for key, number in facts.left_out.items())


def _value(nearest: NearestValue) -> str:
    """Such as `85.3%` or `12 restarts`."""
    unit = "%" if nearest.unit == "percent" else f" {nearest.unit}"
    return f"{_number(nearest.value)}{unit}"


def _number(value: float) -> str:
    """With at most one decimal, as reasons have it, and none of scientific notation."""
    return f"{value:,.1f}".removesuffix(".0")


def _answer(asked: Inquiry) -> Answer[PluginExplanation]:
    scheduling = asked.settings.resolved()
    return Answer(explain_plugin(asked.name, policy=asked.policy, scheduling=scheduling, run=asked.run(())))


def _names() -> Iterator[str]:
    """The names of plugins of policies and of schedulers."""
    return iter(sorted({*REGISTRY, *PLUGINS}))


SUBJECT = Explained(PluginExplanation, _answer, plugin_table, _names)
