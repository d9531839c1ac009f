"""DeviceShare of koord-scheduler (koordinator 1.8): which devices of a node a pod gets."""
