"""The parts of RemovePodsViolatingTopologySpreadConstraint: which constraints, which domains, how many pods move."""
