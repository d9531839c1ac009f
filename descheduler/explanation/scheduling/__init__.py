"""What a scheduler makes of one pod: what the nodes have against it, which come nearest, and how they rank."""
