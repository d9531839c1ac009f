"""LoadAwareScheduling."""
