"""The pods that controllers create for evicted ones, as they are once they have started."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.plan.moves import Move
from descheduler.report.simulation_document import Fate


class Successor(msgspec.Struct, frozen=True):
    """What comes for the pod of `move`: `pod`, None where nothing is created. It is bound where `fate` is scheduled."""

    move: Move
    pod: Pod | None
    fate: Fate


def arrival_of(move: Move, now: datetime) -> Successor:
    """What comes for the pod of `move`, which is evicted at `now`.

    A scheduled pod is ready at once. One whose scheduler is not modelled waits, because its node is unknown. Static
    pods stay.
    """
    landing = move.landing
    if landing is None:
        return Successor(move, None, "not created")
    if landing.replacement.unmovable:
        again = replace(_successor(move.pod, move.pod, now), name=f"{move.pod.name}+")
        return Successor(move, started(again, now), "scheduled")
    pod = landing.replacement.pod
    if pod is None or landing.replacement.barred:
        return Successor(move, None, "not created")
    new = _successor(pod, move.pod, now)
    if landing.node is None:
        return Successor(move, new, _fate_without_node(landing))
    bound = replace(new, node_name=landing.node, annotations={**pod.annotations, **landing.patch})
    return Successor(move, started(bound, now), "scheduled")


def started(pod: Pod, now: datetime) -> Pod:
    """`pod`, which has a node, once its containers run and are ready."""
    return replace(
        pod,
        phase="Running",
        started_at=now,
        status_reason="",
        container_statuses=(),
        init_container_statuses=(),
        ephemeral_container_statuses=(),
        is_ready=True,
        conditions=None if pod.conditions is None else (),
        nominated_node_name="",
        resized=None,
    )


def _successor(pod: Pod, victim: Pod, now: datetime) -> Pod:
    """`pod`, created in the place of `victim`, with a UID that no pod of the cluster has.

    The name of a replacement is that of its StatefulSet's pod, or has a plus sign, which no stored pod has.
    """
    return replace(pod, uid=f"{victim.uid}+", created_at=now)


def _fate_without_node(landing: Landing) -> Fate:
    return "unknown" if landing.verdict is LandingVerdict.UNKNOWN else "pending"
