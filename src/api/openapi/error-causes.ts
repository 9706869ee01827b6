// What each code of an error answer means: the one table for the OpenAPI document and the list of codes at /docs/error-codes (interface,
// part 7). A test holds it to what the code can refuse.

export const ERROR_CAUSES = {
  400: {
    invalid_url: "the URL is no valid HTTP/HTTPS URL",
    unsafe_url: "the URL is flagged as unsafe",
    invalid_domain: "the domain is not found, not verified or not active",
    custom_slug_needs_domain:
      "a custom slug without domain_id, where the service keeps slugs for custom domains",
    invalid_request: "the body, query or a header is wrong: the message names each field, and what it may be",
    invalid_json: "the body is no JSON",
    invalid_content_type: "the body is not sent as application/json",
    body_too_large: "the body is too large",
    invalid_address: "the address of the request can't be read",
    invalid_idempotency_key: "the Idempotency-Key is not 1 to 255 printable ASCII characters",
    invalid_cursor: "the cursor is not next_cursor of a page of the same list",
    invalid_position: "the position is not one that this log has shown",
    invalid_range: "the range of time is wrong",
    range_too_large: "these are too many clicks to be counted at once",
    too_many_links: "too many links have times or a limit to be listed by their state",
    link_too_large: "all that the link carries is more than 16 KB",
    invalid_link: "a filter names no link",
    invalid_email: "this is no e-mail address",
    invalid_time_zone: "there is no such time zone",
    invalid_item: "an item of a bulk request is wrong",
    unscannable_qr: "nobody could scan a QR code that looks so",
  },
  401: {
    invalid_api_key: "the API key is missing or invalid",
    key_expired: "the API key has expired",
    account_not_found: "the account of the key is closed",
  },
  402: { tier_required: "the feature needs the Developer tier" },
  403: {
    forbidden: "no access to this resource",
    link_not_yours: "the link is another account's",
    missing_scope: "the key lacks the scope",
    not_permitted: "the role of the key, or of its person, lacks the right",
    role_too_high: "nobody gives, changes or takes a role above their own",
    address_not_allowed: "the key may not be used from this address",
  },
  404: {
    not_found: "there is no such resource",
    link_not_found: "there is no such link",
    member_not_found: "the account has no such member",
    invitation_not_found: "there is no such invitation",
    webhook_not_found: "the account has no such webhook",
    shared_page_not_found: "the account has no such shared page, or has ended it",
    filter_not_found: "there is no saved filter of this name",
  },
  405: { method_not_allowed: "this address doesn't take this method: see the header Allow" },
  409: {
    slug_taken: "the custom slug already exists on the domain",
    external_id_taken: "the external id is another link's",
    link_claimed: "another request is giving the external id to a link in this moment",
    tag_taken: "the name is another tag's",
    blocked_by_operator: "the operator has blocked the link",
    link_deleted: "the link was deleted in this moment: restore it first",
    already_member: "who is invited is a member already",
    last_owner: "this is the last owner of the account",
    too_many_members: "the account has as many members or open invitations as it can have",
    history_full:
      "the link or the account was changed as often as it can be, or the account keeps as many filters as it can",
    sharing_limit_reached: "the account has as many shared pages as it can: end one first",
    idempotency_key_reused: "the Idempotency-Key was used with another body",
    webhook_key_missing: "the key of the webhook is missing: make a new one",
  },
  412: { precondition_failed: "the link has been changed since its ETag in If-Match" },
  422: { invalid_slug: "the format of the custom slug is wrong, or it is reserved" },
  429: {
    rate_limit_exceeded: "too many requests: wait for so many seconds as Retry-After says",
    too_many_streams: "too many streams or exports of the account are open",
  },
  500: {
    internal_error: "the service has failed: give its operator the request_id",
    store_failed: "a store fails until the operator acts",
  },
  503: {
    store_unavailable: "a store is unavailable: Retry-After says how many seconds to wait",
    coordination_unavailable: "rate limits can't be counted just now",
    links_behind: "the lists of links are behind the log",
    revision_conflict: "others change the same in this moment",
    qr_busy: "too many QR images are being drawn",
    too_busy: "too many passwords of links are being hashed",
    analytics_busy: "other questions of the account are being counted",
  },
} as const;

export type ErrorStatus = keyof typeof ERROR_CAUSES;

/** In one sentence, for an answer of the OpenAPI document. */
export function causesOf(status: ErrorStatus): string {
  const causes = Object.entries(ERROR_CAUSES[status]).map(([code, cause]) => `\`${code}\`: ${cause}`);
  return `${causes.join("; ")}.`;
}
