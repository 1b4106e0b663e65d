"""Shared basics for every other folder: errors, atomic files, the registry, environment settings, object stores."""
