"""Made-up histories, with good defaults: one argument for each fact that an observer's test is about."""

from __future__ import annotations

import json
from typing import Any

from tests.faults.history import Effect, History, Limits, Page, Request, Run, Tenure, Terms

LISTS = ("/api/v1/nodes", "/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets")


def effect(pod: str, *, run: int = 0, node: str = "n1", namespace: str = "shop", **facts: Any) -> Effect:
    """A pod that left 2 s after the start; its uid is its name."""
    return Effect(at=facts.pop("at", 2.0), run=run, uid=pod, pod=pod, namespace=namespace, node=node, **facts)


def request(kind: str, *, at: float = 2.0, run: int = 0, **facts: Any) -> Request:
    """A request that met no fault unless one is named."""
    return Request(
        number=0, at=at, run=run, kind=kind, method=facts.pop("method", "POST"), path=facts.pop("path", "/"), **facts
    )


def sound_reading(run: int = 0) -> list[Request]:
    """Every list that decisions rest on, in one whole page each."""
    page = Page(1, 0, is_last=True)
    return [request("list", at=1.0, run=run, path=path, page=page, is_whole=True) for path in LISTS]


def report(*results: tuple[str, str, str], planned: tuple[str, ...] | None = None, **parts: Any) -> str:
    """An Outcome document with one result for each (pod, result, code); all of these pods are planned."""
    kinds = ("evicted", "gone", "refused", "background", "failed", "not-attempted")
    names = [pod for pod, _, _ in results] if planned is None else planned
    document = {
        "kind": "Outcome",
        "plan": {"moves": [{"pod": {"name": name, "uid": name}} for name in names]},
        "results": [
            {"pod": {"name": pod, "uid": pod}, "result": result, "code": code} for pod, result, code in results
        ],
        "counts": {kind: sum(result == kind for _, result, _ in results) for kind in kinds},
        "unconfirmed": sum(code == "outcome-unknown" for _, _, code in results),
    }
    return json.dumps(document | parts)


def run(stdout: str = "", **facts: Any) -> Run:
    """A run of 5 s, which ended with 0 unless told."""
    return Run(started_at=0.0, ended_at=facts.pop("ended_at", 5.0), stdout=stdout, **facts)


def one_evicted(**facts: Any) -> History:
    """A history in which nothing is wrong: pod a was evicted, reported, and nothing else happened."""
    terms = facts.pop("terms", Terms(limits=Limits(total=2), deadline_seconds=10.0))
    defaults: dict[str, Any] = {
        "runs": [run(report(("a", "evicted", "done")))],
        "effects": [effect("a")],
        "requests": [*sound_reading(), request("eviction", uid="a", is_confirmed=True)],
        "listed": {0: {"a", "b", "c", "d"}, 1: {"a", "b", "c", "d"}},
        "budgets": {"shop/web": 1},
    }
    return History(1, terms, **(defaults | facts))


def reported(*results: tuple[str, str, str], **facts: Any) -> list[Run]:
    """A single run with this report."""
    parts = {key: facts.pop(key) for key in ("planned", "counts", "unconfirmed") if key in facts}
    return [run(report(*results, **parts), **facts)]


def both_evicted(**facts: Any) -> History:
    """Pods a and b were evicted, and both are reported."""
    requests = [*sound_reading(), request("eviction", uid="a"), request("eviction", uid="b")]
    results = reported(("a", "evicted", "done"), ("b", "evicted", "done"))
    return one_evicted(**({"runs": results, "effects": [effect("a"), effect("b")], "requests": requests} | facts))


def leased(tenures: list[Tenure], *evictions: Request, **facts: Any) -> History:
    """A run with a Lease of 6 s that asked for these evictions, none of which took effect."""
    terms = Terms(deadline_seconds=20.0, request_timeout_seconds=1.0, lease_seconds=6)
    requests = [*sound_reading(), *evictions]
    runs = [run(report(), **facts)]
    return one_evicted(terms=terms, tenures=tenures, requests=requests, effects=[], runs=runs)


def left_late(tenures: list[Tenure]) -> History:
    """A run with a Lease that ended after 5 s without knowing what became of pod a, which left 2 s later."""
    terms = Terms(deadline_seconds=20.0, request_timeout_seconds=1.0, lease_seconds=6)
    requests = [*sound_reading(), request("eviction", uid="a", fault="no answer")]
    runs = reported(("a", "evicted", "outcome-unknown"))
    late = [effect("a", at=7.0, is_late=True)]
    return one_evicted(terms=terms, tenures=tenures, requests=requests, effects=late, runs=runs)


HELD = Tenure(1.0, "us")
GIVEN_BACK = Tenure(4.9, "")


def with_text(place: str, text: str) -> History:
    """A run that wrote `text` somewhere, and a token that must not be seen."""
    history = one_evicted(terms=Terms(deadline_seconds=10.0, canaries=("canary-token",), is_json=False))
    setattr(history.runs[0], place, text)
    return history


def ended_with(code: int) -> History:
    """A run without flaw, deadline and signals that ended with this code."""
    return one_evicted(terms=Terms(), runs=reported(("a", "evicted", "done"), exit_code=code))
