"""Reads pages of pods."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.decode import PodDecoder
from descheduler.cluster.decoding.wire import PodPageWire, PodWire
from descheduler.model.pod import Pod

__all__ = ["PodPageReader"]


class PodPageReader:
    """Makes the pods of a page as it is read, and adds them to `pods`.

    A page is megabytes: what is read of a pod, and its bytes, would have left the processor's caches by the time that
    the whole page is read, and coming back to them would take as long again as making the pod.
    """

    def __init__(self, decoder: PodDecoder, pods: list[Pod]) -> None:
        class TakenPod(PodWire):
            def __post_init__(self) -> None:
                pod = decoder.decode(self)
                if not pod.name:
                    raise ValueError("metadata.name is missing")
                pods.append(pod)
                self.metadata = self.spec = self.status = None

        self._decoder = decoder
        self._pods = pods
        self._read = msgspec.json.Decoder(PodPageWire[TakenPod]).decode

    def read(self, page: bytes) -> PodPageWire[PodWire] | None:
        """The list, its items spent; None, with nothing added, when it or one of its pods is malformed."""
        num_before = len(self._pods)
        try:
            return self._read(page)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            del self._pods[num_before:]
            return None
        finally:
            self._decoder.forget()
