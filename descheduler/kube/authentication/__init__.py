"""Where the API server is, and how to prove who asks."""
