// What is refused: a stable code for programs, and what the API, the forms and the command line make of it. What nobody tells from
// other failures by its code is a Failure (runtime/errors.ts).
import { DomainError } from "../runtime/errors.ts";

/**
 * `status`: of the API and the portal; without one it is answered as an error of the service. `message`: for people,
 * unless whoever refuses says more. `field`: of the form that it is shown beside. `retryAfter`: seconds.
 */
type Refusal = { status?: number; message?: string; field?: string; retryAfter?: number };

/** A code never changes once published. */
export const REFUSALS = {
  // Requests (interface, part 7).
  invalid_request: { status: 400 },
  invalid_json: { status: 400 },
  invalid_content_type: { status: 400 },
  body_too_large: { status: 400 },
  invalid_idempotency_key: { status: 400 },
  invalid_address: { status: 400 },
  invalid_range: { status: 400 },
  // By the clicks of the account alone.
  range_too_large: {
    status: 400,
    message:
      "from, to: these are too many clicks to be counted at once: ask for a later or shorter range, or without filters",
  },
  invalid_cursor: {
    status: 400,
    message: "The cursor is not valid. Use next_cursor of the page before, unchanged.",
  },
  // A position of another service, or of a log that was restored from an older backup.
  invalid_position: {
    status: 400,
    message: "This is not a position of this log: give one that it has shown, or leave it out",
  },
  // One message for a missing and for an invalid key (interface, part 5).
  invalid_api_key: {
    status: 401,
    message: "Missing or invalid API key: send a valid key in the X-API-Key header",
  },
  key_expired: { status: 401 },
  invalid_admin_token: {
    status: 401,
    message: "Sign in at /admin, or send Authorization: Bearer with the ADMIN_TOKEN of this service",
  },
  tier_required: { status: 402 },
  forbidden: { status: 403 },
  missing_scope: { status: 403 },
  not_permitted: {
    status: 403,
    message: "Your role in this account doesn't allow this: ask one of its owners or admins",
  },
  address_not_allowed: { status: 403, message: "This API key may not be used from your address" },
  form_refused: {
    status: 403,
    message: "This form came from another page: open it here, and send it again",
  },
  not_found: { status: 404, message: "There is nothing at this address" },
  // RFC 9110, 15.5.6: the header Allow says which there are.
  method_not_allowed: { status: 405, message: "This address doesn't take this method: see the header Allow" },
  history_full: { status: 409 },
  precondition_failed: {
    status: 412,
    message: "It has been changed since you read it: read it again, and decide anew",
  },
  idempotency_key_reused: {
    status: 409,
    message: "This Idempotency-Key was used with another request body: use a new key for a new request",
  },
  rate_limit_exceeded: { status: 429 },
  // When one of the open streams will end is not known.
  too_many_streams: { status: 429, retryAfter: 10 },
  too_busy: { status: 503, message: "Too many passwords are being checked just now: try again in a moment" },
  analytics_busy: {
    status: 503,
    retryAfter: 2,
    message: "Other questions of this account are being counted in the log: wait until one is answered",
  },
  unscannable_qr: { status: 400 },
  qr_busy: { status: 503, message: "Too many QR images are being drawn" },

  // Links.
  invalid_url: { status: 400, field: "url" },
  unsafe_url: {
    status: 400,
    field: "url",
    message: "This URL is flagged as unsafe and can't be shortened",
  },
  invalid_domain: { status: 400, field: "domain", message: "Domain not found, not verified or not active" },
  custom_slug_needs_domain: {
    status: 400,
    field: "slug",
    message:
      "Custom slugs are only available with custom domains: domain_id is required with customSlug, unless the operator of this service sets BASE_HOST_SLUGS=true",
  },
  invalid_slug: { status: 422, field: "slug" },
  slug_taken: { status: 409, field: "slug" },
  invalid_item: { status: 400 },
  invalid_link: { status: 400 },
  invalid_reason: { status: 400 },
  link_not_found: { status: 404, message: "Short link not found" },
  filter_not_found: { status: 404, message: "There is no saved filter of this name" },
  link_not_yours: { status: 403, message: "This link belongs to another account" },
  blocked_by_operator: { status: 409 },
  link_too_large: { status: 400 },
  link_deleted: { status: 409, message: "This link is deleted; restore it first" },
  tag_taken: { status: 409, field: "name" },
  external_id_taken: { status: 409, field: "external_id" },
  too_many_links: {
    status: 400,
    field: "status",
    message:
      "status: more than 20,000 of these links have times or a limit: narrow the list by tag, domain or time",
  },
  links_behind: { status: 503, retryAfter: 2, message: "The lists of links are behind the log" },
  // The other request may have been lost in a crash: the id is free again after a minute and what clocks may differ by.
  link_claimed: {
    status: 409,
    field: "external_id",
    retryAfter: 1,
    message:
      "Another request is giving this external_id to a link in this moment: try again, at the latest after six minutes",
  },

  // Accounts, their keys and signing in.
  account_not_found: { status: 401, message: "Account not found" },
  invalid_time_zone: { status: 400, field: "timezone" },
  account_exists: { status: 409, message: "This account is open already" },
  invalid_email: { status: 400, field: "email", message: "Please provide a valid e-mail address" },
  email_taken: {
    status: 409,
    field: "email",
    message: "An account with this e-mail address exists already",
  },
  key_exists: {
    status: 409,
    message:
      "This key was issued already, and its text is shown once only: issue another one if you have lost it",
  },
  key_not_found: { status: 404, message: "API key not found" },
  key_limit_reached: { status: 409 },
  key_not_active: { status: 409, message: "This key is deactivated, or has expired: issue another one" },
  // Scopes, expiry or networks that no key can have.
  invalid_key: { status: 400 },
  password_refused: { status: 400, field: "password" },
  wrong_current_password: { status: 403, field: "current_password", message: "This is not your password" },
  // One message for an unknown address and a wrong password, so that addresses can't be enumerated.
  wrong_credentials: { status: 401, message: "This e-mail address and password don't go together" },
  // Of people, and their membership in accounts.
  not_a_member: { status: 403, message: "You are not a member of this account" },
  member_not_found: { status: 404, message: "This account has no such member" },
  already_member: { status: 409, message: "Who accepts this invitation is a member of the account already" },
  role_too_high: {
    status: 403,
    field: "role",
    message: "Nobody gives, changes or takes a role above their own",
  },
  last_owner: {
    status: 409,
    message: "This is the last owner of the account: make somebody else an owner first, or close the account",
  },
  too_many_members: { status: 409 },
  invitation_not_found: { status: 404, message: "There is no such invitation" },
  other_address: { status: 403, message: "This invitation was sent to another address than yours" },
  person_exists: { status: 409, message: "This person has registered already" },
  person_not_found: { status: 404, message: "There is no such person" },
  sign_up_closed: {
    status: 403,
    message: "Accounts of this service are made by its operator: ask for an invitation",
  },
  // Of a mailed link that is used, expired, unknown, or void because the password or the address changed.
  token_expired: {
    status: 404,
    message: "This link was used already or is too old; please ask for a new one",
  },

  // Signing in at a provider, and by passkeys.
  sign_in_off: { status: 403, message: "This way of signing in is off here: sign in otherwise" },
  provider_unavailable: {
    status: 502,
    retryAfter: 10,
    message: "The provider for signing in does not answer: try again later, or sign in otherwise",
  },
  provider_refused: { status: 403 },
  passkey_refused: { status: 403 },
  passkey_not_found: { status: 404, message: "There is no such passkey" },
  last_way_to_sign_in: {
    status: 409,
    message: "You could not sign in any more without it: add another way first",
  },
  sign_in_again: {
    status: 403,
    message:
      "Sign in again first: this takes your password, or a sign-in of the last ten minutes by another way",
  },
  try_again: { status: 409, message: "Something else was changed at the same time: try again" },

  // Shared pages and weekly mails.
  shared_page_not_found: { status: 404, message: "This account has no such shared page, or has ended it" },
  weekly_mail_not_found: { status: 404, message: "This account gets no such mail, or has stopped it" },
  sharing_limit_reached: { status: 409 },

  // Custom domains.
  invalid_hostname: { status: 400, field: "hostname" },
  domain_not_found: { status: 404, message: "Domain not found" },
  domain_not_verified: { status: 409, message: "This domain is not verified yet" },
  domain_taken: { status: 409, field: "hostname" },
  // The TXT record is missing or DNS is unavailable; the caller may try again in both cases.
  domain_not_proven: { status: 409 },

  // Webhooks.
  webhook_not_found: { status: 404, message: "Webhook not found" },
  webhook_limit_reached: { status: 400 },
  invalid_webhook: { status: 400 },
  webhook_held: {
    status: 403,
    message: "This webhook was paused by the operator of the service, who alone can resume it",
  },
  rotation_under_way: {
    status: 409,
    message: "The key of this webhook is being rotated by another request; try again in a moment",
  },
  // For instance after a restore without the secrets.
  webhook_key_missing: { status: 409, message: "The key of this webhook is missing: make a new one" },
  // Of a delivery that is not sent; stored in the delivery log.
  url_refused: {},
  port_refused: {},
  address_refused: {},
  dns_failed: {},

  // Withdrawals of clicks.
  invalid_withdrawal: { status: 400 },
  nothing_to_withdraw: { status: 409 },
  withdrawals_changed: {
    status: 409,
    message: "Another withdrawal of this link was made or taken back in this moment; look again",
  },
  withdrawal_not_found: { status: 404, message: "This link has no such withdrawal" },
  already_restored: { status: 409 },

  // Operation: projections, the log and its seals.
  unknown_projection: { status: 404 },
  nothing_else_answers: { status: 409 },
  no_previous_build: { status: 409 },
  verification_in_progress: { status: 409 },
  bad_export: {},
  other_log: {},
  streams_of_others: {},
  mail_not_sent: {},
  // Clicks go to the event store at once.
  journal_full: {},
  // The redirect answers 503 instead of losing the click.
  recorder_busy: {},

  // The command line, and imports.
  interrupted: {},
  documents_behind: {
    message:
      "The documents are behind the log: `projections status` says how far, and whether they are folded",
  },
  wrong_format: { status: 400, field: "list" },
} as const satisfies Record<string, Refusal>;

export type RefusalCode = keyof typeof REFUSALS;

/** Its message may be shown to the caller; nothing has happened. */
export class Refused extends DomainError {
  override readonly code: RefusalCode;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** Of the form, or of the request. */
  readonly field: string | undefined;

  constructor(
    code: RefusalCode,
    message?: string,
    details: { retryAfter?: number; field?: string; cause?: unknown } = {},
  ) {
    const { retryAfter, field, ...options } = details;
    super(message ?? refusal(code).message, options);
    this.code = code;
    this.retryAfter = retryAfter ?? refusal(code).retryAfter;
    this.field = field ?? refusal(code).field;
  }

  get status(): number | undefined {
    return refusal(this.code).status;
  }
}

/** Of an error that has crossed threads as fields. */
export function isRefusalCode(code: unknown): code is RefusalCode {
  return typeof code === "string" && Object.hasOwn(REFUSALS, code);
}

/** Whether it is one of these refusals; without codes, any. */
export function isRefused(error: unknown, ...codes: RefusalCode[]): error is Refused {
  return error instanceof Refused && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Whether the request itself is refused (4xx), as it would be again: a form or a list says so beside what was given.
 * Limits and queues that are full only say when to try again.
 */
export function isClientError(error: unknown): error is Refused {
  const status = isRefused(error) ? (error.status ?? 500) : 500;
  return status < 500 && status !== 429;
}

function refusal(code: RefusalCode): Refusal {
  return REFUSALS[code];
}
