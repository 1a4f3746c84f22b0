"""Values as pages write them."""
