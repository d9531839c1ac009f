"""The search for devices: which of them the claims of a pod would get on a node, and which test each device fails."""
