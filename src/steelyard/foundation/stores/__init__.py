"""Objects on stores such as S3: an address that can do the few things of a path that folders of parts need."""
