"""What a Kubernetes API server makes of requests."""
