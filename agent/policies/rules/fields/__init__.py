"""Records of the page that is open, read again while scripts may still bring what is missing."""
