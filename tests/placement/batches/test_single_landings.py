"""What a replacement finds were it alone, in words where that is nothing."""

from __future__ import annotations

from tests.placement.volcano.worlds import group, node, owned, pods, prover_of


def test_pod_that_its_scheduler_looks_at_no_node_for_is_told_with_the_reason() -> None:
    closed = {**node("old"), "spec": {"unschedulable": True}}
    prover, pod = prover_of(closed, node("a"), group("job", least=2, phase="Running"), owned(pods("job", 1, on="old")))

    assert prover.prove([pod["job-0"]]).certificate == (
        "the replacement of batch/job-0 cannot be scheduled onto any node: 0/2 nodes are available for the replacement"
        " pod: 2 job batch/job has 1 of 2 tasks that it needs (NotEnoughTasks)"
    )
