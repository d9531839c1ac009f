"""Runs over small random clusters whose API server refuses at random, watched by an observer that counts for itself."""
