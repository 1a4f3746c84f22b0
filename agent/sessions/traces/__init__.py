"""What a trace or a recording keeps when it leaves its worker: nothing that may be a secret."""
