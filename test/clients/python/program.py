"""Makes a link, and reads it, its numbers and its events through the generated client."""

import json
import sys

from linkledger_client import AuthenticatedClient
from linkledger_client.api.analytics import get_analytics, get_range_analytics
from linkledger_client.api.events import list_events
from linkledger_client.api.links import get_link, list_links, shorten
from linkledger_client.models import LinkCreatedEvent, ListLinksScope, ShortenRequest

base_url, key = sys.argv[1:3]
client = AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="X-API-Key")
with client:
    body = ShortenRequest(url="https://example.com/python", title=None, redirect_code=302, forward_query="visitor")
    slug = shorten.sync(client=client, body=body).slug
    page = list_links.sync(client=client, scope=ListLinksScope.ACCOUNT)
    whole = get_analytics.sync(slug, client=client)
    ranged = get_range_analytics.sync(slug, client=client)
    events = list_events.sync(client=client, types="LinkCreated").events
    wrong = get_link.sync("none", client=client)
json.dump(
    {
        "slug": slug,
        "status": page.links[0].status,
        "recent": [click.device for click in whole.analytics.recent_clicks],
        "days": len(ranged.analytics.series),
        "created": [event.data.long_url for event in events if isinstance(event, LinkCreatedEvent)],
        "code": wrong.code,
    },
    sys.stdout,
)
