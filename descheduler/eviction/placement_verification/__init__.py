"""PlacementVerification: blocks the eviction of pods whose replacement cannot be scheduled."""
