"""`NodeResourcesFit`: whether what a pod requests is free, and how full that makes a node."""
