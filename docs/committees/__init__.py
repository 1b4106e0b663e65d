"""The evidence for committees: figures on two public sets of answers of many LLMs, and the page made of them."""
