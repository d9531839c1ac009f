"""What objects and keys of Koordinator say, as decoded values."""
