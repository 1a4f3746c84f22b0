"""Places of the shown page that may hold a value of a field: what they are called, and which of them is meant."""
