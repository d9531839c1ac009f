"""What several scheduling plugins need alike, as `plugins/helper` of kube-scheduler."""
