"""Screenshots, downloads and other evidence."""
