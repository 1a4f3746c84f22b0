"""Commands that submit, watch and change jobs."""
