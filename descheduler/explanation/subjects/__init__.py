"""The subjects of `descheduler explain`, a module each: what is published of it, how it is made, and its tables."""
