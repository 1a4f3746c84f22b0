"""The API's views of a webhook message."""

from __future__ import annotations

from pydantic import Field

from shoal.services.store.records import DeliveryState
from shoal.services.web.api.views.base import DeliveryId, JobId, Time, View


class DeliveryView(View):
    """One message on its way, to a webhook or to people."""

    id: DeliveryId
    tenant: str
    job: JobId
    event: str
    channel: str = Field(description="empty: a webhook; else how people are told: `email`, `slack`, `teams`, `discord`")
    url: str = Field(description="where it is sent; of people as `notify.to` has it")
    state: DeliveryState
    attempts: int = Field(description="begun so far")
    due_at: Time = Field(description="when the next attempt begins, while it waits")
    created_at: Time
    ended_at: Time | None
    status_code: int | None = Field(description="of the receiver's last answer")
    error: str = Field(description="why the last attempt failed")


class DeliveryDetailView(DeliveryView):
    """One webhook message with what is sent."""

    body: str


class DeliveryPage(View):
    """One page of deliveries, newest first."""

    deliveries: list[DeliveryView]
    next: str | None = Field(description="the `cursor` of the next page; null: this was the last")
