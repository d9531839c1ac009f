"""What acts in a cluster by itself, besides its schedulers: controllers and kubelets."""
