"""Which pods another controller evicts, so that a run only asks for it."""

from __future__ import annotations

import pytest

from descheduler.eviction.background import BackgroundEvictions, EvictionAnswer
from descheduler.model.pod import EVICTION_IN_PROGRESS_ANNOTATION, REQUEST_EVICT_ONLY_ANNOTATION, Pod
from tests.builders import make_pod, make_snapshot

ASKED_ONLY = {REQUEST_EVICT_ONLY_ANNOTATION: ""}
BEGUN = {**ASKED_ONLY, EVICTION_IN_PROGRESS_ANNOTATION: ""}
TAKEN_OVER = EvictionAnswer(429, "Eviction triggered evacuation of the VM")


def evictions_of(pod: Pod, answer: EvictionAnswer | None = None, *, is_enabled: bool = True) -> BackgroundEvictions:
    """Those of a cluster with this pod, about which the API is known to answer this."""
    answers = {} if answer is None else {pod.key: answer}
    return BackgroundEvictions(make_snapshot(pods=[pod]), answers, is_enabled=is_enabled)


@pytest.mark.parametrize(
    ("pod", "is_enabled", "have_begun"),
    [
        pytest.param(make_pod("vm", annotations=BEGUN), True, True, id="in progress"),
        pytest.param(make_pod("vm", annotations=BEGUN), False, False, id="where the gate is closed"),
        pytest.param(make_pod("vm", annotations=ASKED_ONLY), True, False, id="not in progress"),
        pytest.param(
            make_pod("vm", annotations={EVICTION_IN_PROGRESS_ANNOTATION: ""}), True, False, id="of an ordinary pod"
        ),
        pytest.param(make_pod("vm", annotations=BEGUN, phase="Failed"), True, False, id="of a finished pod"),
    ],
)
def test_evictions_in_progress_have_begun(pod: Pod, is_enabled: bool, have_begun: bool) -> None:
    evictions = evictions_of(pod, is_enabled=is_enabled)

    assert (evictions.have_begun(pod), evictions.concern(pod)) == (have_begun, have_begun)
    assert (evictions.num_begun, len(evictions.in_progress)) == (int(have_begun), int(have_begun))
    assert not evictions.take_over(pod)


@pytest.mark.parametrize(
    ("pod", "answer", "is_enabled", "takes_over"),
    [
        pytest.param(make_pod("vm", annotations=ASKED_ONLY), TAKEN_OVER, True, True, id="evacuation"),
        pytest.param(make_pod("vm", annotations=ASKED_ONLY), TAKEN_OVER, False, False, id="where the gate is closed"),
        pytest.param(make_pod("vm", annotations=ASKED_ONLY), None, True, False, id="no refusal"),
        pytest.param(make_pod("vm"), TAKEN_OVER, True, False, id="of an ordinary pod"),
        pytest.param(
            make_pod("vm", annotations=ASKED_ONLY), EvictionAnswer(429, "budget"), True, False, id="another refusal"
        ),
        pytest.param(
            make_pod("vm", annotations=ASKED_ONLY),
            EvictionAnswer(500, TAKEN_OVER.message),
            True,
            False,
            id="another status",
        ),
    ],
)
def test_answer_of_the_api_says_that_another_controller_takes_over(
    pod: Pod, answer: EvictionAnswer | None, is_enabled: bool, takes_over: bool
) -> None:
    evictions = evictions_of(pod, answer, is_enabled=is_enabled)

    assert (evictions.take_over(pod), evictions.concern(pod)) == (takes_over, takes_over)
    assert not evictions.have_begun(pod)


def test_pod_that_was_handed_over_has_begun_until_that_is_undone() -> None:
    pod = make_pod("vm", annotations=ASKED_ONLY)
    evictions = evictions_of(pod)

    undo = evictions.begin(pod)
    evictions.begin(pod)()

    assert (evictions.have_begun(pod), evictions.num_begun) == (True, 1)
    undo()
    assert (evictions.have_begun(pod), evictions.num_begun) == (False, 0)


def test_finished_pod_leaves_nothing_to_hand_over() -> None:
    pod = make_pod("vm", annotations=ASKED_ONLY, phase="Succeeded")
    evictions = evictions_of(pod)

    evictions.begin(pod)

    assert evictions.num_begun == 0
