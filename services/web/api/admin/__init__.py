"""Routes of the operator: workers, secrets, sites."""
