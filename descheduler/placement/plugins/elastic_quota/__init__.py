"""ElasticQuota: pods of a quota get no more than its share of the cluster (koordinator 1.8)."""
