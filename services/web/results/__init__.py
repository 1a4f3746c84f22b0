"""Results of jobs: as lines, as tables, archived."""
