"""From what a run decided and did to its summary in the document `Status`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import ReachedGoal
from descheduler.plan.outcome import Outcome
from descheduler.plan.staying import staying_pods
from descheduler.report.identities import shard_identity
from descheduler.report.outcome.document import PluginResults
from descheduler.report.outcome.goal import reached_objectives
from descheduler.report.outcome.making import result_counts
from descheduler.report.outcome.predictions import make_predictions
from descheduler.report.outcome.status_document import RunSummary, TakenUp
from descheduler.version import VERSION

__all__ = ["MOST_PLUGINS", "make_summary"]

MOST_PLUGINS = 50
_LONGEST_TEXT = 500
"""Of sentences and names, so that ten runs fit into a ConfigMap many times over."""


def make_summary(
    decisions: Decisions,
    outcomes: Sequence[Outcome],
    *,
    goals: Sequence[ReachedGoal],
    stopped_by: str,
    taken_up: TakenUp,
    num_unused: int,
    seconds: float,
    num_api_calls: int,
) -> RunSummary:
    """The summary of a run that decided this and came to these outcomes in `seconds`.

    `num_unused` Reservations were not used by the replacements that came to their nodes.
    """
    policy = decisions.policy
    return RunSummary(
        at=decisions.now,
        version=VERSION,
        policy=policy.path[:_LONGEST_TEXT],
        policy_digest=policy.digest,
        shard=shard_identity(decisions.snapshot),
        planned=len(decisions.leaving),
        counts=result_counts(outcomes),
        unconfirmed=sum(outcome.is_unconfirmed for outcome in outcomes),
        plugins=tuple(_plugins(outcomes))[:MOST_PLUGINS],
        not_evicted=dict(Counter(each.first.verdict.code for each in staying_pods(decisions)).most_common()),
        predictions=make_predictions(outcomes),
        goals=reached_objectives(goals)[:MOST_PLUGINS],
        taken_up=taken_up,
        reservations_unused=num_unused,
        stopped_by=stopped_by[:_LONGEST_TEXT],
        skipped=decisions.skipped[:_LONGEST_TEXT],
        seconds=round(seconds, 1),
        num_api_calls=num_api_calls,
    )


def _plugins(outcomes: Sequence[Outcome]) -> Iterator[PluginResults]:
    by_plugin: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        by_plugin.setdefault((outcome.eviction.profile, outcome.eviction.plugin), []).append(outcome)
    for (profile, plugin), its_outcomes in by_plugin.items():
        yield PluginResults(
            profile=profile[:_LONGEST_TEXT], plugin=plugin[:_LONGEST_TEXT], counts=result_counts(its_outcomes)
        )
