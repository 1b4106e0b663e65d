"""Questions to sample answers for: files of the user, published question sets, names on the Hugging Face hub."""
