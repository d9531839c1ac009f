"""What RemovePodsViolatingInterPodAntiAffinity is made of."""
