"""What every eviction has to pass when it is asked for, whichever plugin asks."""
