"""Object stores such as S3: an address with the few methods of a path that folders of parts need."""
