"""The two programs: how each is started over the same policy and kubeconfig, and what its log says it evicted."""

from __future__ import annotations

import compileall
import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.e2e.binaries import Binaries

_UPSTREAM_REFUSED = re.compile(r'"Error evicting pod" err="(?!maximum number)[^\n]* pod="([^"]+)"')
_UPSTREAM_TOTAL = re.compile(r'"Number of evictions/requests" totalEvicted=(\d+)')


@dataclass(frozen=True, slots=True)
class Job:
    """What both programs are asked to do."""

    kubeconfig: Path
    policy: Path
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Program:
    """One of the two. `command` is its command line for a job; it logs its total of evictions like the other.

    `refused` finds the pods (`namespace/name`) whose eviction the API refused in standard output and error of a run.
    Requests that met a limit are not among them: those follow from the order of requests.
    """

    name: str
    command: Callable[[Job], list[str]]
    refused: Callable[[str, str], frozenset[str]]


def num_evictions(log: Iterable[str]) -> int | None:
    """The evictions of the last cycle that the lines of the log tell of; None when no cycle ended."""
    totals = [found[1] for line in log if (found := _UPSTREAM_TOTAL.search(line))]
    return int(totals[-1]) if totals else None


def upstream(binaries: Binaries) -> Program:
    """kubernetes-sigs/descheduler of the pinned version, one cycle, quiet, with no server of its own."""
    binary = str(binaries["descheduler"])

    def command(job: Job) -> list[str]:
        flags = ["--descheduling-interval=0", "--secure-port=0", "--v=1", *_common(job)]
        # More than enough for its events and evictions; reading is one list a kind and needs none.
        return [binary, *flags, "--client-connection-qps=500", "--client-connection-burst=1000"]

    return Program("upstream", command, lambda _, log: frozenset(_UPSTREAM_REFUSED.findall(log)))


def ours() -> Program:
    """This program, as `descheduler run` starts it."""

    def command(job: Job) -> list[str]:
        rate = ["--client-connection-qps=500", "--client-connection-burst=1000"]
        output = [] if job.dry_run else ["--output=json"]
        return [sys.executable, "-m", "descheduler", "run", *_common(job), *rate, *output]

    return Program("ours", command, lambda outcome, _: _refused_in(outcome))


def compile_ours() -> None:
    """Compiles this program once, as its image does.

    Where Python is told to write no bytecode every run from a source tree would compile it again.
    """
    package = find_spec("descheduler")
    if package is not None and package.origin:
        compileall.compile_dir(Path(package.origin).parent, quiet=2)


def _refused_in(outcome: str) -> frozenset[str]:
    refusals = json.loads(outcome)["plan"]["refusals"]
    pods = (refusal["pod"] for refusal in refusals if refusal["attempt"] and refusal["code"] != "LimitReached")
    return frozenset(f"{pod['namespace']}/{pod['name']}" for pod in pods)


def _common(job: Job) -> list[str]:
    dry = ["--dry-run"] if job.dry_run else []
    return [f"--kubeconfig={job.kubeconfig}", f"--policy-config-file={job.policy}", *dry]
