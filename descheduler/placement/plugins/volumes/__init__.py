"""Storage in a shadow cluster: claims of pods, volumes that they can have, and what placed pods hold of both."""
