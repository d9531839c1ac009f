"""Controllers of pods, one module each: what they do once a pod of theirs is evicted (kube-controller-manager 1.36)."""
