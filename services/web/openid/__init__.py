"""Logins by OpenID Connect: what the operator sets, what the provider says, and who that is here."""
