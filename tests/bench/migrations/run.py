"""One run of the program in a process of its own, and what it told and asked."""

from __future__ import annotations

import json
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from descheduler.cycle.options import RunResult


def run_and_tell(kubeconfig: str, policy: str, report: str) -> Sequence[float]:
    """Runs `policy` and writes the figures to the file `report`, as JSON; no figures of its own."""
    # Here, so that the process that measures does not pay for the program.
    from descheduler.cycle.options import RunOptions
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.report.outcome.predictions import prediction_of
    from tests.bench.migrations.calls import count_calls
    from tests.e2e.witness import Witness, watched_run

    witness = Witness(Path(kubeconfig))
    began, cpu_began = time.perf_counter(), _cpu_seconds()
    result = watched_run(witness, policy, RunOptions(lease=LeaseOptions()))
    predictions = map(prediction_of, result.outcomes)
    figures = {
        "wall_seconds": time.perf_counter() - began,
        "cpu_seconds": _cpu_seconds() - cpu_began,
        "calls": count_calls(witness.exchanges),
        "guard": result.guard,
        "codes": Counter(outcome.code.value for outcome in result.outcomes),
        "predictions": Counter(found.value for found in predictions if found is not None),
        "refusals": Counter(f"{each.verdict.code}: {each.verdict.message}" for each in result.decisions.refusals),
        "messages": Counter(outcome.message for outcome in result.outcomes if outcome.message),
        "num_granted": sum(exchange.status_code == 201 for exchange in witness.evictions()),
        "predicted": list(_predicted(result)),
    }
    Path(report).write_text(json.dumps(figures))
    return ()


def _predicted(result: RunResult) -> Iterator[tuple[str, str]]:
    """UID of the owner and expected node of each replacement for which a node was predicted."""
    for outcome in result.outcomes:
        landing = outcome.eviction.landing
        if landing is not None and landing.node:
            yield outcome.eviction.controller_uid, landing.node


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
