"""What a model's reply must satisfy."""
