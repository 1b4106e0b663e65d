"""What some methods can do beyond voting, each ability a class that a method may inherit."""
