"""MakeRoom over a cluster: for pods that are pending and for deferred in-place resizes, and what keeps room away."""
