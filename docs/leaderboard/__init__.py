"""docs/leaderboard.md: every method on the bundled grid and on public sets of responses."""
