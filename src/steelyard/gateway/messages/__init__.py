"""What goes over the wire: requests, replies, streams of events, JSON and API errors."""
