"""The levels of a stack that can break by themselves, from the metal up."""

from enum import StrEnum


class Layer(StrEnum):
    """One level; the order of the members is the order in which preflight checks them."""

    DEVICE = "device"
    DRIVER = "driver"
    RUNTIME = "runtime"
    PACKAGES = "packages"
    CLIENT = "client"
    MEMORY = "memory"
    COPY = "copy"
    STREAM = "stream"
    OPERATOR = "operator"
    GRAPH = "graph"
    COLLECTIVES = "collectives"
    PLUGIN = "plugin"
    WEIGHTS = "weights"
    CAPACITY = "capacity"
    SERVER = "server"
    ANSWER = "answer"
