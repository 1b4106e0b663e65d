"""Labels that clients send for earlier requests."""
