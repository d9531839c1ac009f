"""The log lines of a run, in the words that operators of kubernetes-sigs/descheduler 0.36 search for."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from descheduler.plan.facts import NodeClasses
from descheduler.plan.outcome import OutcomeCode
from descheduler.report.nothing import why_nothing
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.plan.document import Plan
from descheduler.telemetry.logging import fields, log_event

_logger = logging.getLogger(__name__)
_logger = logging.getLogger(__name__)


def log_plan(plan: Plan) -> None:
    """The story of a dry run: a line an eviction and a plugin at verbosity 1, failures as errors."""
    for move in plan.moves:
        log_event(
            _logger,
            "Evicted pod in dry run mode",
            verbosity=1,
            pod=f"{move.pod.namespace}/{move.pod.name}",
            reason=move.reason,
            strategy=move.plugin,
            node=move.from_node,
            profile=move.profile,
        )
    _log_skipped(plan)
    for plugin in plan.plugins:
        _log_plugin(plugin.profile, plugin.plugin, plugin.evicted, plugin.background)
    _log_idle_plugins(plan)
    _log_failures(plan)
    _log_sums(plan, num_evicted=len(plan.moves))


def log_outcome(outcome: OutcomeDocument) -> None:
    """The sums of a run that evicted, of what was done; each eviction was logged when it ended."""
    _log_skipped(outcome.plan)
    for plugin in outcome.plugins:
        _log_plugin(plugin.profile, plugin.plugin, plugin.counts["evicted"], plugin.counts["background"])
    _log_idle_plugins(outcome.plan)
    _log_failures(outcome.plan)
    for left in outcome.not_attempted:
        level = logging.INFO if OutcomeCode(left.code).is_never_meant else logging.WARNING
        facts = fields(count=left.count, err=left.message, code=left.code)
        _logger.log(level, "Evictions not attempted", extra=facts)
    _log_sums(outcome.plan, num_evicted=outcome.counts["evicted"])


def _log_skipped(plan: Plan) -> None:
    if plan.skipped:
        log_event(_logger, "Skipping descheduling cycle: requires >=2 nodes", reason=plan.skipped)


def _log_plugin(profile: str, plugin: str, num_evicted: int, num_background: int) -> None:
    log_event(
        _logger,
        "Total number of evictions/requests",
        verbosity=1,
        profile=profile,
        strategy=plugin,
        evictedPods=num_evicted,
        evictionRequests=num_background,
    )


def _log_failures(plan: Plan) -> None:
    for failure in plan.failures:
        _logger.error(
            "Plugin failed", extra=fields(profile=failure.profile, strategy=failure.plugin, err=failure.message)
        )


def _log_sums(plan: Plan, *, num_evicted: int) -> None:
    log_event(
        _logger,
        "Number of evictions/requests",
        totalEvicted=num_evicted,
        evictionRequests=plan.num_background,
        refused=sum(count.num_attempts for count in plan.refusal_counts),
    )


def _log_idle_plugins(plan: Plan) -> None:
    """What each plugin saw that evicts nothing, at verbosity 1; of a run that evicts nothing at all a line always."""
    for plugin in plan.plugins:
        facts = plugin.facts
        if facts is None or not facts.why_nothing:
            continue
        names = {"profile": plugin.profile, "strategy": plugin.plugin}
        if facts.nodes is not None:
            _log_classes(facts.nodes, names)
        if facts.stopped:
            log_event(_logger, facts.stopped, verbosity=1, **names)
        log_event(
            _logger,
            "Plugin evicts nothing",
            verbosity=1,
            **names,
            why=facts.why_nothing,
            podsExamined=facts.pods_examined,
            podsSelected=facts.pods_selected,
            **{f"leftOutBy.{key}": number for key, number in facts.left_out.items()},
        )
    if why := why_nothing(plan):
        log_event(_logger, "No pod to evict", why=why)


def _log_classes(nodes: NodeClasses, names: Mapping[str, str]) -> None:
    """The thresholds and the number of nodes on their far side, as upstream's utilization plugins log them."""
    if nodes.target_thresholds:
        _log_criteria("Criteria for a node under utilization", nodes.thresholds, names)
        log_event(_logger, "Number of underutilized nodes", verbosity=1, **names, totalNumber=nodes.under)
        _log_criteria("Criteria for a node above target utilization", nodes.target_thresholds, names)
        log_event(_logger, "Number of overutilized nodes", verbosity=1, **names, totalNumber=nodes.over)
    else:
        _log_criteria("Criteria for a node below target utilization", nodes.thresholds, names)
        log_event(_logger, "Number of underutilized nodes", verbosity=1, **names, totalNumber=nodes.under)


def _log_criteria(message: str, thresholds: Mapping[str, float], names: Mapping[str, str]) -> None:
    log_event(_logger, message, verbosity=1, **names, **{key: f"{value:g}%" for key, value in thresholds.items()})
