"""The one line that says why a run evicts nothing."""

from __future__ import annotations

from descheduler.model.text.counted import counted
from descheduler.report.plan.document import Plan

_NO_PLUGIN = "the policy enables no plugin under deschedule or balance"

_MOST_SENTENCES = 2


def why_nothing(plan: Plan) -> str:
    """Why `plan` has no moves: what the plugins say of that; empty for a plan with moves and for a skipped run.

    Of many plugins those come first that selected pods, none of which may be evicted. The others are only counted, as
    the plan has the sentence of each.
    """
    if plan.skipped or plan.moves or plan.background:
        return ""
    if not (plan.plugins or plan.failures):
        return _NO_PLUGIN
    told = [(p.plugin, p.facts) for p in plan.plugins if p.facts is not None and p.facts.why_nothing]
    told.sort(key=lambda each: not each[1].pods_selected)
    sentences = [f"{plugin}: {facts.why_nothing}" for plugin, facts in told[:_MOST_SENTENCES]]
    num_selecting = sum(facts.pods_selected > 0 for _, facts in told[_MOST_SENTENCES:])
    num_others = len(told) - len(sentences) - num_selecting
    rest = {"only pods that are blocked": num_selecting, "no pod": num_others}
    others = [f"{counted(n, 'other plugin selects', 'other plugins select')} {what}" for what, n in rest.items() if n]
    return "; ".join([*sentences, *others])
