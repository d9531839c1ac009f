"""`TaintToleration`: taints that a pod has to tolerate, and those that it should."""
