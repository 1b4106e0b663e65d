from steelyard.testing.checks import check_method as check_method
from steelyard.testing.checks import method_checks as method_checks
from steelyard.voting.pools.simulated import World as World
