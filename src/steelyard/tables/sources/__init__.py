"""Table sources: files of every format, object stores, run folders, tables in memory and the bundled grid."""
