"""One module per peer, run by the Python of the peer's environment; `driver.py` has the protocol."""
