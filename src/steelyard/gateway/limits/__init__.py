"""What a client may use: keys, concurrent requests, tokens, cost, connections and time."""
