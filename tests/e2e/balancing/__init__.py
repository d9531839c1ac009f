"""An uneven cluster on a real control plane, and programs that are to bring its nodes under a target of requests."""
