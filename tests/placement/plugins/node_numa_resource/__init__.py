"""NodeNUMAResource."""
