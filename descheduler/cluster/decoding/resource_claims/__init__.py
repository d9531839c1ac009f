"""Objects of `resource.k8s.io` from the bytes of the API to model values, in all served versions."""
