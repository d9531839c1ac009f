"""`InterPodAffinity`: pods that want to be near others, or far from them."""
