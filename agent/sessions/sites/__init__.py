"""The rule that holds a session to the sites of its job."""
