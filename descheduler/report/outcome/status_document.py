"""The document `Status`: what the last runs of a policy did, as they left it beside their Lease, and how it is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import ReachedGoal
from descheduler.plan.outcome import Outcome
from descheduler.plan.staying import staying_pods
from descheduler.report.document import ShardIdentity
from descheduler.report.identities import shard_identity, shard_of
from descheduler.report.outcome.document import PluginResults, ReachedObjective, ResultKind, reached_objectives
from descheduler.report.outcome.making import plugin_results, result_counts
from descheduler.report.outcome.predictions import Predictions, make_predictions
from descheduler.version import VERSION

STATUS_VERSION: Literal["descheduler.status/v1"] = "descheduler.status/v1"
MOST_RUNS = 10
"""The latest runs are kept."""


class StatusError(ValueError):
    """Text that is no status of this version; the message says what is wrong."""


class TakenUp(Fields, frozen=True):
    """What a run found of earlier ones: migrations that it finished or undid, and reservations that it removed.

    `of_users` are PodMigrationJobs of users that have succeeded.
    """

    finished: int
    undone: int
    removed: int
    of_users: int


NOTHING_TAKEN_UP = TakenUp(finished=0, undone=0, removed=0, of_users=0)


class RunSummary(Fields, frozen=True):
    """One run. `at` is the time that its ages were computed at, `version` that of the program.

    `shard` is the part of the cluster that the run could change, null for all of it.

    `counts` are evictions of the plan and of users' PodMigrationJobs by result, and `plugins` the same for each plugin
    that had any, with "" for those of users. `planned` are those of the plan alone, and `unconfirmed` of the evicted
    pods had no clear answer.
    `not_evicted` are the pods that plugins selected and that the plan does not evict, by reason code. `goals` are the
    objectives of planners, before and after.
    `reservations_unused` were not used by the replacements on their nodes: the scheduler's profile does not enable the
    plugin Reservation under `reserve`. `stopped_by` is what ended the run early, `skipped` why no plugin ran; both are
    "" otherwise.
    """

    at: datetime
    version: str
    policy: str
    policy_digest: str
    shard: ShardIdentity | None
    planned: int
    counts: Mapping[ResultKind, int]
    unconfirmed: int
    plugins: tuple[PluginResults, ...]
    not_evicted: Mapping[str, int]
    predictions: Predictions
    goals: tuple[ReachedObjective, ...]
    taken_up: TakenUp
    reservations_unused: int
    stopped_by: str
    skipped: str
    seconds: float
    num_api_calls: int = msgspec.field(name="apiCalls")


class StatusDocument(Fields, frozen=True):
    """The last `MOST_RUNS` runs, the latest first."""

    api_version: Literal["descheduler.status/v1"]
    kind: Literal["Status"]
    runs: tuple[RunSummary, ...]

    def with_run(self, run: RunSummary) -> StatusDocument:
        """The status after `run`."""
        return msgspec.structs.replace(self, runs=(run, *self.runs)[:MOST_RUNS])

    def encoded(self) -> str:
        """As it is kept."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decoded(cls, text: str) -> StatusDocument:
        """What `text` holds; no run where it is empty. Raises StatusError."""
        if not text:
            return cls(api_version=STATUS_VERSION, kind="Status", runs=())
        try:
            found = _decode_status(text)
            for run in found.runs:
                shard_of(run.shard)
        except (ValueError, RecursionError) as error:
            raise StatusError(f"not a status of version {STATUS_VERSION}: {error}") from error
        return found


_decode = msgspec.json.Decoder(StatusDocument).decode


def _decode_status(text: str) -> StatusDocument:
    """The status in `text`, whose runs can be of a version without shards. Raises ValueError or RecursionError."""
    tree = msgspec.json.decode(text)
    runs = tree.get("runs") if isinstance(tree, dict) else None
    for run in runs if isinstance(runs, list) else ():
        if isinstance(run, dict):
            run.setdefault("shard", None)
    return _decode(msgspec.json.encode(tree))


_MOST_PLUGINS = 50
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
        plugins=tuple(
            msgspec.structs.replace(each, profile=each.profile[:_LONGEST_TEXT], plugin=each.plugin[:_LONGEST_TEXT])
            for each in islice(plugin_results(outcomes), _MOST_PLUGINS)
        ),
        not_evicted=dict(Counter(each.first.verdict.code for each in staying_pods(decisions)).most_common()),
        predictions=make_predictions(outcomes),
        goals=reached_objectives(goals)[:_MOST_PLUGINS],
        taken_up=taken_up,
        reservations_unused=num_unused,
        stopped_by=stopped_by[:_LONGEST_TEXT],
        skipped=decisions.skipped[:_LONGEST_TEXT],
        seconds=round(seconds, 1),
        num_api_calls=num_api_calls,
    )
