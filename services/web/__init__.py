"""The HTTP server: API and dashboard over one store."""
