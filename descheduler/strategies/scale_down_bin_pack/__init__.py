"""ScaleDownBinPack: arguments, the ranking of pods, and the plugin."""
