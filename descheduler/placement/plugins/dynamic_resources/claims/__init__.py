"""The claims of pods: which a pod has, which the scheduler makes for it, and what is held for each."""
