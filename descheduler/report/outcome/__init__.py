"""What became of a plan, as documents: the outcome of a run, and the status that runs leave."""
