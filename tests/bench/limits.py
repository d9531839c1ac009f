"""`python -m tests.bench.limits [--pods N --limit N --sample N]`: pods that a limit cut off, explained one by one.

Draws pods that the policy evicts without the limit and not with it, asks `explain` about each, and says how long the
run takes with and without looking beyond its limit.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.beyond_limits import with_beyond
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.explaining import explain
from descheduler.explanation.subjects.pod import PodExplanation
from descheduler.explanation.watched_run import watched_run
from descheduler.model.pod import Pod
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.plan.making import make_plan
from tests.bench.dumps import write_generated
from tests.bench.policies import STRATEGIES, policy_of
from tests.worlds.generate import GENERATED_AT

_NUM_COMMANDS = 5
"""Pods that are explained by themselves as well, as the command does it."""


def main() -> None:
    """Prints the figures; ends with an error when a pod is explained otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.limits")
    parser.add_argument("--pods", type=int, default=30_000)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--sample", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "cluster.jsonl.gz"
        write_generated(str(dump), options.pods // 50, options.pods)
        _report(dump, options.limit, options.sample)


def _report(dump: Path, limit: int, sample: int) -> None:
    document = policy_of(list(STRATEGIES), node_fit=False)
    policy = load_policy(document, REGISTRY)
    limited = load_policy({**document, "maxNoOfPodsToEvictTotal": limit}, REGISTRY)
    snapshot = read_dump([dump], snapshot_request(policy, Landings.ASSESSED))
    decide_by = partial(decide, snapshot=snapshot, now=GENERATED_AT)
    again = decide_again(snapshot, now=GENERATED_AT)
    began = time.perf_counter()
    decisions = decide_by(limited)
    decided = time.perf_counter()
    plan = make_plan(with_beyond(decisions, again))
    ended = time.perf_counter()
    print(f"deciding {decided - began:.1f} s, looking beyond the limit and reporting {ended - decided:.1f} s more")
    leaving = {move.pod.key for move in decisions.leaving}
    lifted = [move.pod for move in decide_by(policy).leaving if move.pod.key not in leaving]
    print(f"{len(plan.moves):,} pods in the plan, {plan.num_more_matching:,} more match")
    print(f"without the limit {len(lifted):,} more are evicted")
    assert plan.num_more_matching == len(lifted)
    chosen = random.Random(1).sample(lifted, min(sample, len(lifted)))
    run = watched_run(limited, snapshot, chosen, GENERATED_AT)
    codes = Counter(run.decision_about(pod).answers[0].code for pod in chosen)
    print(f"{len(chosen):,} of them explained: {dict(codes)}")
    assert codes == {"LimitReached": len(chosen)}
    for pod in chosen[:_NUM_COMMANDS]:
        _explain_alone(pod, limited, snapshot)


def _explain_alone(pod: Pod, policy: Policy, snapshot: Snapshot) -> None:
    """Prints what `descheduler explain pod` says of one pod."""
    began = time.perf_counter()
    explanation = explain(
        "pod", pod.key, snapshot, policy=policy, settings=SchedulingSettings(), now=GENERATED_AT
    ).answer
    assert isinstance(explanation, PodExplanation)
    assert explanation.decision is not None
    answer = explanation.decision.answers[0]
    assert answer.code == "LimitReached"
    print(f"{pod.key}: {answer.plugin} ({answer.reason}), {answer.message}; {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
