"""What a session's row keeps of its order: stacks, models, clients, policy and limits."""

from pydantic import ConfigDict

from service.formats.identities import StackOrder
from service.formats.messages import Message
from service.formats.orders import ClientOrder, Limits, ModelOrder
from service.formats.sessions import PolicyOrder
from service.store.sessions import StoredSession


class SessionContent(Message):
    """A session's order without its launches; what a later Kunline adds to it is passed over."""

    model_config = ConfigDict(extra="ignore")

    stacks: tuple[StackOrder, ...]
    models: tuple[ModelOrder, ...]
    clients: tuple[ClientOrder, ...]
    policy: PolicyOrder
    limits: Limits


def asked_of(stored: StoredSession) -> SessionContent:
    """Return what a session asked for."""
    return SessionContent.model_validate(stored.content)
