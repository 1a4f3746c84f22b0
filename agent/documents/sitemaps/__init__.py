"""The sitemaps of sites: read, one file after another, without a browser."""
