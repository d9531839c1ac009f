"""May this pod go: eligibility, limits, disruption budgets; and the book of what was asked and answered."""
