"""Who may use which route of a server; a new route needs a rule here."""

from __future__ import annotations

# What anybody may see: whether the server runs, what it documents of itself, and the files of the
# page, which have no data in them.
OPEN = {
    ("GET", "/livez"),
    ("GET", "/readyz"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/"),
    ("GET", "/start"),
    ("GET", "/campaigns/{name}"),
    ("GET", "/campaigns/{name}/decisions/{decision_id}"),
    ("GET", "/page/static/{name}"),
    ("GET", "/page/about.json"),
}
ROLE_OF = {
    ("GET", "/metrics"): "read",
    ("GET", "/v1/campaigns"): "read",
    ("POST", "/v1/campaigns"): "admin",
    ("GET", "/v1/campaigns/{name}"): "read",
    ("PATCH", "/v1/campaigns/{name}"): "admin",
    ("GET", "/v1/campaigns/{name}/history"): "read",
    ("GET", "/v1/campaigns/{name}/events"): "read",
    ("POST", "/v1/campaigns/{name}/decisions"): "decide",
    ("GET", "/v1/decisions/{decision_id}"): "read",
    ("PUT", "/v1/decisions/{decision_id}/reward"): "reward",
    ("PATCH", "/v1/decisions/{decision_id}/reward"): "reward",
    ("POST", "/v1/decisions/{decision_id}/exposure"): "reward",
    ("POST", "/v1/rewards"): "reward",
    ("POST", "/v1/campaigns/{name}/defaults"): "decide",
    ("POST", "/ofrep/v1/evaluate/flags"): "decide",
    ("POST", "/ofrep/v1/evaluate/flags/{key}"): "decide",
    ("GET", "/page/overview.json"): "read",
    ("GET", "/page/campaigns/{name}/view.json"): "read",
    ("GET", "/page/campaigns/{name}/history.json"): "read",
    ("GET", "/page/campaigns/{name}/errors.json"): "read",
    ("GET", "/page/campaigns/{name}/find.json"): "read",
    ("GET", "/page/campaigns/{name}/decisions/{decision_id}/view.json"): "read",
    ("POST", "/page/share"): "admin",
}
SHARED = {  # what share links may read of their campaign
    "/v1/campaigns/{name}",
    "/v1/campaigns/{name}/history",
    "/page/campaigns/{name}/view.json",
    "/page/campaigns/{name}/history.json",
    "/page/campaigns/{name}/errors.json",
}
UNDOCUMENTED = "/page/"  # the views of the page are no interface for programs
