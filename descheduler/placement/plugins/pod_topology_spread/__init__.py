"""`PodTopologySpread`: pods that belong together are spread over topology domains."""
