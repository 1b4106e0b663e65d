"""Work that is cut into parts, done by many workers: on Ray, or by processes of this machine."""
