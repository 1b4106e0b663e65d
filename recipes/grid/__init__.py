"""How the bundled grid was made: five language models, seven verifiers, one set of questions."""
