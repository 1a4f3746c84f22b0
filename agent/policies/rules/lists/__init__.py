"""Lists: the values of a loop, and the pages that continue them."""
