"""Hill climb, steepest descent and annealing by the guide: numpy evaluates many single moves or swaps at once."""
