"""One upstream server of the gateway: its state, its replies, and which retries are billed."""
