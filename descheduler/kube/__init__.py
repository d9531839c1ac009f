"""The edge to the API server: the only package that imports the `kubernetes` client.

Objects cross this edge as bytes. The official client, whose import takes longer than many a run decides, serves the
`auth-provider` of old kubeconfigs alone.
"""
