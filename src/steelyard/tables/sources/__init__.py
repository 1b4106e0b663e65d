"""Where a table comes from: files of every kind, runs, the bundled grid."""
