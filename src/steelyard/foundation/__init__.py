"""What every other folder may use: errors, safe files, the registry, settings of the environment, object stores."""
