"""What an action would reach on a page, and what keeps forms from sites that the job may not act on."""
