"""The one line that says why a run evicts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from descheduler.model.text.counted import counted
from descheduler.report.plan.document import Plan

_NO_PLUGIN = "the policy enables no plugin under deschedule or balance"

_MOST_SENTENCES = 2


def why_nothing(plan: Plan, *, beside_goals: bool = False) -> str:
    """Why `plan` has no moves: what the plugins say of that; empty for a plan with moves and for a skipped run.

    Of many plugins those come first that selected pods, none of which may be evicted. The others are only counted, as
    the plan has the sentence of each. With `beside_goals`, what the goals of planners say is left out.
    """
    if plan.skipped or plan.moves or plan.background:
        return ""
    if not (plan.plugins or plan.failures):
        return _NO_PLUGIN
    said = _goals(plan) if beside_goals else {}
    told = [
        (p.plugin, p.facts)
        for p in plan.plugins
        if p.facts is not None and p.facts.why_nothing not in ("", said.get((p.profile, p.plugin)))
    ]
    told.sort(key=lambda each: not each[1].pods_selected)
    sentences = [f"{plugin}: {facts.why_nothing}" for plugin, facts in told[:_MOST_SENTENCES]]
    num_selecting = sum(facts.pods_selected > 0 for _, facts in told[_MOST_SENTENCES:])
    num_others = len(told) - len(sentences) - num_selecting
    rest = {"only pods that are blocked": num_selecting, "no pod": num_others}
    others = [f"{counted(n, 'other plugin selects', 'other plugins select')} {what}" for what, n in rest.items() if n]
    return "; ".join([*sentences, *others])


def _goals(plan: Plan) -> Mapping[tuple[str, str], str]:
    """What the goals of each planner say, as its reason for selecting nothing has it."""
    objectives = () if plan.goal is None else plan.goal.objectives
    by_planner = groupby(objectives, key=lambda objective: (objective.profile, objective.plugin))
    return {planner: "; ".join(each.sentence for each in group) for planner, group in by_planner}
