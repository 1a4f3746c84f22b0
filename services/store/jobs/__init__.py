"""Jobs: submitted, changed, ended, retained."""
