"""Whether everything a run needs is there: server, verifier, machine. It asks and reports, and changes nothing."""
