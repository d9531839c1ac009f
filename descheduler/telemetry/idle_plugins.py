"""The log lines about plugins that evict nothing: those of kubernetes-sigs/descheduler 0.36, and one of our own."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from descheduler.plan.facts import NodeClasses
from descheduler.report.nothing import why_nothing
from descheduler.report.plan.document import Plan
from descheduler.telemetry.logging import log_event

__all__ = ["log_idle_plugins"]

_logger = logging.getLogger(__name__)


def log_idle_plugins(plan: Plan) -> None:
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
