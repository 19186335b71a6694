"""The table of cards' leases."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class CardLeaseRow(Table):
    """A card of a host, the runner that holds it, and until when that counts unheard of."""

    __tablename__ = "card_lease"

    host: Mapped[str] = mapped_column(primary_key=True)
    card: Mapped[str] = mapped_column(primary_key=True)
    runner: Mapped[str]
    lease_until: Mapped[datetime]
