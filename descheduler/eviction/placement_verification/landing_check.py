"""Whether the replacements of a bundle land: what PlacementVerification asks of every request.

Whether a pod lands depends on the moves before it, and plugins ask filters about pods that they only count. So the
plugin itself lets every pod pass, and this check decides at the moment of a request. It comes last, since a proof takes
longer than all other checks together.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.placement_verification.in_any_order import IN_SOME_ORDERS
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import (
    REFUSE,
    REFUSE_BALANCE,
    PlacementVerificationArgs,
    verification_args,
)
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.request_check import PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.groups.gangs import gang_name_of
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.placement.landings.landing import UNPROVEN, Landing, LandingVerdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.shared_args import compile_selector
from descheduler.policy.types import Profile


class _Rules(msgspec.Struct, frozen=True):
    """How one profile verifies landings, and which of its plugins balance nodes."""

    args: PlacementVerificationArgs
    settings: SchedulingSettings
    balancing: frozenset[str]
    disposable: LabelSelector | None

    def refusal(self, landing: Landing, candidate: Candidate, plugin: str) -> Verdict | None:
        """What blocks an eviction that ends in `landing`."""
        answer = landing.replacement.answer
        if answer.loss:
            return refuse(Reason.OWNER_FAILS, answer.loss, _owner_of(candidate.pod))
        if landing.replacement.pod is None:
            return None
        if landing.verdict is LandingVerdict.NO and self._is_disposable(candidate.pod):
            return None
        refusal = _refusal(landing, self.args)
        if refusal is None and self._refuses_return(plugin) and landing.returns_to_source and not landing.cause:
            node, setting = landing.node, self.args.on_return_to_source
            message = f"the replacement pod would be scheduled onto {node} again (onReturnToSource: {setting})"
            message = f"{message}; {landing.only_return}" if landing.only_return else message
            return refuse(Reason.RETURNS_TO_SOURCE, message, landing.node or "")
        return refusal or _missed(landing, candidate.target_node)

    def _is_disposable(self, pod: Pod) -> bool:
        return self.disposable is not None and self.disposable.matches(pod.labels)

    def _refuses_return(self, plugin: str) -> bool:
        refuses = (REFUSE, REFUSE_BALANCE) if plugin in self.balancing else (REFUSE,)
        return self.args.on_return_to_source in refuses


class LandingCheck(PodByPod):
    """Refuses pods whose replacement does not land after everything booked, in profiles that verify landings.

    Every eviction is booked, also those of other profiles, once a pod; those of another controller are not.
    """

    def __init__(self, profiles: Sequence[Profile], landings: LandingBook, background: BackgroundEvictions) -> None:
        settings = [settings for _, settings in landings.scheduling]
        self._rules = [_rules(profile, each) for profile, each in zip(profiles, settings, strict=True)]
        self._landings = landings
        self._background = background
        self._booked: set[str] = set()

    def verdict(self, bundle: Bundle) -> Verdict:
        """The first refusal of a pod on top of those before it; pods that leave together have to land so as well.

        Where room is held for each of them that comes back, the order in which they come makes no difference.
        """
        verdict = super().verdict(bundle)
        rules = self._rules_of(bundle)
        if rules is None or len(bundle.candidates) == 1:
            return verdict
        if verdict.is_accepted and self._has_own_rooms(bundle, rules):
            return verdict
        return _of_gang(self._together(bundle, rules) if verdict.is_accepted else verdict, bundle)

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the replacement of the pod lands."""
        rules = self._rules_of(bundle)
        if rules is None or not self._is_new(candidate.pod):
            return ACCEPTED
        only_proven = rules.args.on_unknown == REFUSE
        landing = self._landings.consider(
            candidate.pod,
            rules.settings,
            only_proven=only_proven,
            mates=_mates(bundle),
            held=candidate.held,
        )
        return (
            rules.refusal(landing, candidate, bundle.plugin)
            or self._selected_again(landing, candidate, bundle)
            or ACCEPTED
        )

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Books the eviction, and the landing that comes with it."""
        rules = self._rules_of(bundle)
        settings = None if rules is None else rules.settings
        return self._book(candidate, settings, _mates(bundle))

    def adopt(self, moves: Sequence[Move]) -> None:
        """Books what earlier rounds have evicted."""
        for move in moves:
            self._book(move, self._landings.scheduling_of(move.profile))

    def _has_own_rooms(self, bundle: Bundle, rules: _Rules) -> bool:
        """Whether room is held for some of the pods, and nothing is created for the others."""
        others = [candidate.pod for candidate in bundle.candidates if not candidate.held_on]
        if len(others) == len(bundle.candidates):
            return False
        mates = _mates(bundle)
        landings = (self._landings.consider(pod, rules.settings, only_proven=True, mates=mates) for pod in others)
        return all(landing.replacement.pod is None for landing in landings)

    def _together(self, bundle: Bundle, rules: _Rules) -> Verdict:
        new = [candidate for candidate in bundle.candidates if self._is_new(candidate.pod)]
        joint = self._landings.consider_together([candidate.pod for candidate in new], rules.settings)
        answers = (
            rules.refusal(landing, candidate, bundle.plugin)
            for landing, candidate in zip(joint.landings, new, strict=True)
        )
        refusal = next((answer for answer in answers if answer is not None), None)
        return refusal or (ACCEPTED if joint.is_proven or joint.verdict is not LandingVerdict.LANDS else IN_SOME_ORDERS)

    def _selected_again(self, landing: Landing, candidate: Candidate, bundle: Bundle) -> Verdict | None:
        """A refusal where the plugin would select the replacement again; of mates others have selected nothing."""
        rules = self._rules_of(bundle)
        if rules is None or not rules.args.require_gain or candidate.is_mate:
            return None
        again = self._landings.selected_again(
            landing, rules.settings, bundle.profile_index, bundle.plugin, is_held=bool(candidate.held_on)
        )
        if again is None:
            return None
        is_sure = again.is_predicted and not landing.cause and landing.ties in ((), (again.node,))
        verb = "would" if is_sure else "can"
        message = f"the replacement pod {verb} be scheduled onto {again.node} and would be selected again there"
        return refuse(Reason.SELECTED_AGAIN, f"{message} (requireGain: true): {again.cause}", again.node)

    def _rules_of(self, bundle: Bundle) -> _Rules | None:
        return self._rules[bundle.profile_index] if self._rules else None

    def _is_new(self, pod: Pod) -> bool:
        return pod.uid not in self._booked and not self._background.concern(pod)

    def _book(self, leaving: Candidate | Move, settings: SchedulingSettings | None, mates: Sequence[Pod] = ()) -> Undo:
        pod = leaving.pod
        if not self._is_new(pod):
            return NOTHING_DONE
        take_back = self._landings.book(pod, settings, mates=mates, held=leaving.held)
        self._booked.add(pod.uid)

        def undo() -> None:
            self._booked.discard(pod.uid)
            take_back()

        return undo


def _owner_of(pod: Pod) -> str:
    """The name of its controller for people."""
    return "" if pod.controller is None else f"{pod.namespace}/{pod.controller.name}"


def _mates(bundle: Bundle) -> Sequence[Pod]:
    """The pods that leave together; none where it is one alone."""
    return bundle.pods if len(bundle.candidates) > 1 else ()


def _rules(profile: Profile, settings: SchedulingSettings | None) -> _Rules | None:
    args = verification_args(profile)
    if args is None or settings is None:
        return None
    return _Rules(args, settings, frozenset(profile.balance), compile_selector(args.disposable_pods))


def _refusal(landing: Landing, args: PlacementVerificationArgs) -> Verdict | None:
    verdict = landing.verdict
    if verdict is LandingVerdict.NO:
        message, refusal = landing.message, landing.refusal
        return refuse(Reason.NO_LANDING, message) if refusal is None else refusal.refusal(message)
    if verdict is LandingVerdict.LANDS_IF and args.on_conditional == REFUSE:
        condition = landing.message or "; ".join(landing.conditions)
        return refuse(Reason.CONDITIONAL_LANDING, f"{condition} (onConditional: refuse)")
    if verdict in UNPROVEN and args.on_unknown == REFUSE:
        return refuse(Reason.UNKNOWN_LANDING, f"{landing.message} (onUnknown: refuse)")
    return None


def _of_gang(verdict: Verdict, bundle: Bundle) -> Verdict:
    """`verdict` on pods that leave together, which names their gang where one of them finds no node."""
    if verdict.reason is not Reason.NO_LANDING or verdict.subject:
        return verdict
    return msgspec.structs.replace(verdict, subject=gang_name_of(bundle.pods[0]))


def _missed(landing: Landing, target_node: str) -> Verdict | None:
    """A refusal when the scheduler would not put the replacement where the candidate is meant to go."""
    is_certain = not (landing.cause or landing.open_cause)
    if not target_node or (is_certain and target_node in (landing.node, *landing.ties)):
        return None
    if not is_certain:
        return refuse(
            Reason.OTHER_LANDING,
            f"the replacement pod is not certain to be scheduled onto {target_node}: {landing.message}",
            target_node,
        )
    message = f"the replacement pod would be scheduled onto {landing.node}, not onto {target_node}"
    return refuse(Reason.OTHER_LANDING, message, landing.node or "")
