"""The document `Explanation`, a part for each subject, and its tables."""
