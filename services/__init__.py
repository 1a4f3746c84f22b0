"""The cluster around the agent: store, artifacts, browser pool, dispatcher, gateway, dashboard, command line."""
