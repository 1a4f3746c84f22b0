"""The general words that pages use for common things, in several languages. Data only; no word of any one site."""
