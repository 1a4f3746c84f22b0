"""People who look at running sessions: the rooms where their streams and the workers' links meet."""
