"""The HTTP gateway: `create_app` in `app`, given the `GatewayDeps` of `deps`."""
