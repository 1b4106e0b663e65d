"""What a command would cost, before anything is sent."""
