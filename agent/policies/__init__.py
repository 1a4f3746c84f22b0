"""Who decides: rules, a model, or a learned workflow."""
