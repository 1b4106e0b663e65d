"""What a verb does: generate, score, ask, vote on files, compare. Jobs join the other rooms; they print nothing."""
