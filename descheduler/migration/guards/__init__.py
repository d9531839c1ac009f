"""What stops a live run while it evicts: a cluster that gets worse, or an API server that answers badly."""
