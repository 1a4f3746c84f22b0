"""What a dispatcher reports about itself."""
