"""Configurations of other programs and of older versions, made into policies of this one; see `table`."""
