"""A decision: the plugins of a policy over one snapshot, again where that helps, and what came of it."""
