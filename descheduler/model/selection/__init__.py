"""What objects select by, labels, affinities and taints, and what of it is malformed."""
