"""Work that is cut into parts and done by many workers: on Ray, or by processes of this machine.

The public functions that take `engine=` are in the modules of their names: `sy.vote` in vote.py, and so on.
"""
