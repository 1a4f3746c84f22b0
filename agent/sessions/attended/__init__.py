"""Sessions beside which a person is, to watch, help or take over."""
