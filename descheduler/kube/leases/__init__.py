"""The Lease that keeps two runs of one policy apart."""
