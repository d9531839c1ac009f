"""`python -m tests.bench.peer.decisions`: whom both programs evict, from the same state of a live cluster."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.peer.decision_cases import DecisionCase, make_cases
from tests.bench.peer.live_state import LiveState
from tests.bench.peer.programs import Job, Program, ours, upstream
from tests.e2e.binaries import Binaries, BinariesMissingError, resolve
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.kube_api import Object
from tests.e2e.pins import CONTROL_PLANE, PEERS

_FEWEST_RUNS = 2
_MOST_RUNS = 12
_RUN_SECONDS = 300.0

Group = tuple[str, str, str]
"""Node, namespace and first owner of pods that the programs may take for each other."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one run did: pods that are gone, and pods whose eviction the API refused."""

    evicted: frozenset[str]
    refused: frozenset[str]

    @property
    def asked(self) -> frozenset[str]:
        """All pods that were chosen, whatever became of the request."""
        return self.evicted | self.refused


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ours beside several runs of upstream. `difference` is "" when ours is one of upstream's possible outcomes."""

    case: DecisionCase
    of_upstream: Sequence[Decision]
    of_ours: Decision
    difference: str

    @property
    def is_deterministic(self) -> bool:
        """Whether all runs of upstream decided the same."""
        return len(set(self.of_upstream)) == 1


def compare(case: DecisionCase, plane: ControlPlane, folder: Path) -> Comparison:
    """Runs both programs on the case's cluster, each from the same state, and compares.

    A difference from upstream runs that agree may be chance, as upstream lists from hash maps: it is then run again,
    up to twelve times in all.
    """
    objects = list(case.objects())
    state = LiveState(plane, objects)
    state.install()
    policy = folder / "policy.json"
    policy.write_text(json.dumps(case.policy(objects, datetime.now(UTC))))
    job = Job(plane.kubeconfig, policy, dry_run=False)
    mine = _decide(ours(), job, state)
    theirs = [_decide(upstream(plane.binaries), job, state) for _ in range(_FEWEST_RUNS)]
    groups = {_key(obj): _group(obj) for obj in objects if obj["kind"] == "Pod"}
    while _difference(mine, theirs, groups) and len(theirs) < _MOST_RUNS:
        theirs.append(_decide(upstream(plane.binaries), job, state))
    return Comparison(case, theirs, mine, _difference(mine, theirs, groups))


def _decide(program: Program, job: Job, state: LiveState) -> Decision:
    state.restore()
    before = state.pods()
    done = subprocess.run(program.command(job), capture_output=True, text=True, timeout=_RUN_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{program.name}: exit {done.returncode}: {done.stderr[-2000:]}")
    return Decision(before - state.pods(), program.refused(done.stdout, done.stderr))


def _difference(mine: Decision, theirs: Sequence[Decision], groups: Mapping[str, Group]) -> str:
    if mine in theirs:
        return ""
    if len(set(theirs)) == 1:
        return _different_sets(mine, theirs[0])
    counts = [len(decision.asked) for decision in theirs]
    if not min(counts) <= len(mine.asked) <= max(counts):
        return f"{len(mine.asked)} asked for, upstream {min(counts)} to {max(counts)}"
    per_group = [Counter(groups[key] for key in decision.asked) for decision in theirs]
    if all(each == per_group[0] for each in per_group) and Counter(groups[key] for key in mine.asked) != per_group[0]:
        return "other numbers for a node, namespace and owner than upstream in all its runs"
    per_node = [Counter({(node, "", ""): 0 for node, _, _ in each}) for each in per_group]
    for total, each in zip(per_node, per_group, strict=True):
        for (node, _, _), count in each.items():
            total[node, "", ""] += count
    return _different_nodes(mine, per_node, groups)


def _different_nodes(mine: Decision, per_node: Sequence[Counter[Group]], groups: Mapping[str, Group]) -> str:
    if any(each != per_node[0] for each in per_node):
        return ""
    own = Counter((groups[key][0], "", "") for key in mine.asked)
    return "" if own == per_node[0] else "other numbers for a node than upstream in all its runs"


def _different_sets(mine: Decision, theirs: Decision) -> str:
    parts = []
    for what, own, other in (
        ("evicted", mine.evicted, theirs.evicted),
        ("refused", mine.refused, theirs.refused),
    ):
        for word, pods in (("missing", other - own), ("too many", own - other)):
            if pods:
                parts.append(f"{what}: {len(pods)} {word}, such as {min(pods)}")
    return "; ".join(parts)


def _key(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _group(pod: Object) -> Group:
    owners = pod["metadata"].get("ownerReferences") or [{"kind": "", "name": ""}]
    return pod["spec"].get("nodeName", ""), pod["metadata"]["namespace"], f"{owners[0]['kind']}/{owners[0]['name']}"


def decision_binaries() -> Binaries:
    """The API server, etcd and the upstream program; raises BinariesMissingError."""
    return resolve((CONTROL_PLANE, *(pins for pins in PEERS if pins.name == "descheduler")), say=print)


def main() -> None:
    """Compares all cases, one line each; exits 1 when a decision differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peer.decisions", description=main.__doc__)
    parser.add_argument("--case", type=int, action="append", metavar="N", help="only this one; may be repeated")
    wanted = parser.parse_args().case
    cases = [case for case in make_cases() if not wanted or case.number in wanted]
    try:
        binaries = decision_binaries()
    except BinariesMissingError as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory(prefix="descheduler-peer-") as folder:
        place = Path(folder)
        with running(place / "plane", binaries, parts=STORE) as plane:
            failed = [case for case in cases if _report(compare(case, plane, place))]
    print(f"{len(cases) - len(failed)} of {len(cases)} as upstream")
    sys.exit(1 if failed else 0)


def _report(comparison: Comparison) -> str:
    theirs = [f"{len(each.evicted)}+{len(each.refused)}" for each in comparison.of_upstream]
    mine = f"{len(comparison.of_ours.evicted)}+{len(comparison.of_ours.refused)}"
    kind = "set" if comparison.is_deterministic else "counts"
    verdict = comparison.difference or f"equal {kind}"
    print(
        f"{comparison.case.number:>2} {comparison.case}: ours {mine}, upstream {' '.join(theirs)}: {verdict}",
        flush=True,
    )
    return comparison.difference


if __name__ == "__main__":
    main()
