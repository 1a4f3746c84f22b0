"""What a worker sends: reports and artifacts."""
