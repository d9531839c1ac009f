"""Pods and nodes in the protobuf of the API: what is read of them, and how they get into a snapshot."""
