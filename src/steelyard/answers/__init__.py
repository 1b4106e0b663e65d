"""Reading the answer of a response, and deciding which answers are the same. It knows no table and weighs nothing."""
