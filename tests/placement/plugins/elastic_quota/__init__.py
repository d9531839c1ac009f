"""ElasticQuota."""
