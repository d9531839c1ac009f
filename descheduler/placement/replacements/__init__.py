"""The pod that the owner of an evicted one will create."""
