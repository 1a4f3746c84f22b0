"""What a trace of Playwright's keeps when it leaves its worker: nothing that may be a secret."""
