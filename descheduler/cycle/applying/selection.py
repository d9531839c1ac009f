"""Whether the plugins of a policy still select the pods of a plan from a file.

The plugins run over the snapshot as in a run, in which no other pods than those of the plan are evicted: what came
since takes no pod's turn. Plugins that search are not run, which would take as long as the plan took; of them it
is asked whether anything is left to do, and whether their moves are those that they have planned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from descheduler.cycle.deciding.lifting import LIFTED_STAGES, is_stopped, without_limits
from descheduler.cycle.deciding.round import DecideAgain
from descheduler.eviction.checks.table import REQUEST_CHECKS
from descheduler.eviction.request_check import PodByPod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import EarlierPlan, Move, Refusal
from descheduler.policy.plugin import Registry
from descheduler.policy.plugin_faults import failure_words
from descheduler.policy.types import Policy
from descheduler.report.plan.file import PlanFile, planned_moves

_EDITED = "the moves of {plugin} were changed in the plan file"


class Reselection:
    """What the plugins of `policy` select; `decide_again` decides over the snapshot of the run."""

    def __init__(self, policy: Policy, registry: Registry, decide_again: DecideAgain) -> None:
        self._policy = policy
        self._registry = registry
        self._decide_again = decide_again
        self.refusals: tuple[Refusal, ...] = ()
        """Of the pods that were asked about, those that are not selected, each with a reason code."""

    def against(self, moves: Sequence[Move], file: PlanFile) -> Sequence[tuple[str, str]]:
        """The UID of each pod of `moves`, which are of `file`, that is not selected, and why."""
        if not moves:
            return ()
        decisions = self._decide(self._policy, moves)
        if decisions.skipped:  # nor can the moves be judged, which says so
            return ()
        edited = {move.pod.uid: move for move in self._edited(moves, file)}
        left = _unasked([move for move in moves if move.pod.uid not in edited], decisions)
        if left and is_stopped(decisions, LIFTED_STAGES[-1]):  # what is judged later says that a limit is reached
            decisions = self._decide(without_limits(self._policy, LIFTED_STAGES[-1], self._registry), moves)
            left = _unasked(left, decisions)
        found = [
            *((move, refuse(Reason.NOT_SELECTED, _EDITED.format(plugin=move.plugin))) for move in edited.values()),
            *((move, self._why_not(move, decisions)) for move in left),
        ]
        self.refusals = tuple(
            Refusal(move.pod, move.profile, move.plugin, verdict, is_attempt=False, reason=move.reason)
            for move, verdict in found
        )
        return [(move.pod.uid, verdict.message) for move, verdict in found]

    def _decide(self, policy: Policy, moves: Sequence[Move]) -> Decisions:
        """What the plugins select where only the pods of `moves` are evicted."""
        uids = frozenset(move.pod.uid for move in moves)
        checks = (lambda _: _PlannedPods(uids), *REQUEST_CHECKS)
        return self._decide_again(policy, checks, EarlierPlan(moves, is_checked=True))

    def _edited(self, moves: Sequence[Move], file: PlanFile) -> Iterator[Move]:
        """The moves of plugins that search which are not those that were written, all of them."""
        written = {(each.profile, each.plugin): each.moves for each in file.plugins}
        found = {(each.profile, each.plugin): each.moves for each in planned_moves(file.plan, file.bases)}
        for move in moves:
            key = move.profile, move.plugin
            if self._has(move) and self._registry[move.plugin].searches and found[key] != written.get(key):
                yield move

    def _why_not(self, move: Move, decisions: Decisions) -> Verdict:
        """Why the plugin of `move` has not asked for its pod: it was kept from that, or does not select the pod."""
        kept = next((each.verdict for each in decisions.refusals if each.pod.uid == move.pod.uid), None)
        if kept is not None:
            return kept
        for failure in decisions.failures:
            said = failure_words(failure.plugin, failure.message)
            return refuse(Reason.NOT_SELECTED, f"plugin {failure.plugin} failed: {said}")
        if not self._has(move):
            return refuse(Reason.NOT_SELECTED, f"the policy has no plugin {move.plugin} in profile {move.profile}")
        return refuse(Reason.NOT_SELECTED, f"is not selected by {move.plugin} any more")

    def _has(self, move: Move) -> bool:
        """Whether the policy has the plugin of `move`, which a file can call anything."""
        profiles = (profile for profile in self._policy.profiles if profile.name == move.profile)
        return any(move.plugin in (*profile.deschedule, *profile.balance) for profile in profiles)


def _unasked(moves: Sequence[Move], decisions: Decisions) -> list[Move]:
    """The `moves` that their plugins have not asked for; what they were answered does not matter."""
    asked = {(each.pod.uid, each.profile, each.plugin) for each in (*decisions.moves, *decisions.background)}
    attempts = (refusal for refusal in decisions.refusals if refusal.is_attempt)
    asked.update((each.pod.uid, each.profile, each.plugin) for each in attempts)
    return [move for move in moves if (move.pod.uid, move.profile, move.plugin) not in asked]


class _PlannedPods(PodByPod):
    """Refuses every pod but those of a plan."""

    def __init__(self, uids: AbstractSet[str]) -> None:
        self._uids = uids

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the plan has the pod."""
        if candidate.pod.uid in self._uids:
            return ACCEPTED
        message = f"pod {candidate.pod.key} would have to leave too, which is not in the plan"
        return refuse(Reason.OUT_OF_SCOPE, message, candidate.pod.key)
