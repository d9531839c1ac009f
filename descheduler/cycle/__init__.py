"""One run, top to bottom: the cluster is read, the policy decides, and what it decided is carried out."""
