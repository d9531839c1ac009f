"""PlacementVerification: a pod may go only when its replacement lands."""
