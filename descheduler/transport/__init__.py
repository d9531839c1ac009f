"""Exchanges of requests and answers over HTTP, bounded in time and in size, with no secret told; no Kubernetes."""
