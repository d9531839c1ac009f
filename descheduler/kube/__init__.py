"""The edge to the API server: the only package that imports the `kubernetes` client.

It is used for configuration, credentials and transport; objects cross this edge as bytes.
"""
