"""A dispatcher's report about itself."""
