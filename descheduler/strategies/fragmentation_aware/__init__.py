"""FragmentationAware: arguments, the balance of a node, and the plugin."""
