// The enumerations and limits that events, commands, projections and answers share.
export const TIERS = ["free", "developer"] as const;
export type Tier = (typeof TIERS)[number];

/** Kinds of click event (interface, part 2: analytics.eventTypes). */
export const CLICK_KINDS = ["click", "preview", "qr_scan"] as const;
export type ClickKind = (typeof CLICK_KINDS)[number];

/** The kinds that people make; previews are made by bots. */
export const PEOPLE_KINDS = ["click", "qr_scan"] as const satisfies readonly ClickKind[];

/** The kinds of click that a webhook gets by default. */
export const WEBHOOK_DEFAULT_KINDS = ["click", "qr_scan"] as const satisfies readonly ClickKind[];

/** Who paused a webhook: its owner, the operator of the service, or the service after too many failures. */
export const WEBHOOK_PAUSERS = ["user", "operator", "system"] as const;
export type WebhookPauser = (typeof WEBHOOK_PAUSERS)[number];

/** Why the service paused a webhook, where a command depends on it: rotating the key resumes one whose key was missing. */
export const WEBHOOK_PAUSE_CAUSES = ["key_missing"] as const;
export type WebhookPauseCause = (typeof WEBHOOK_PAUSE_CAUSES)[number];

export const DEVICE_TYPES = ["mobile", "desktop", "tablet", "bot", "unknown"] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];

export const UTM_FIELDS = ["source", "medium", "campaign", "term", "content"] as const;
export type UtmField = (typeof UTM_FIELDS)[number];

/** Of a click that none of the link's rules led; no rule has this id. */
export const NO_RULE = "none";

/** What an API key may do. */
export const KEY_SCOPES = [
  "links:read",
  "links:write",
  "analytics:read",
  "analytics:share",
  "events:read",
  "members",
] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Of a key that names none: whoever lets a key change members says so. */
export const USUAL_SCOPES: readonly KeyScope[] = KEY_SCOPES.filter((scope) => scope !== "members");

/** What a member is in an account: each may do what those after it may (commands/people/rights.ts). */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** How people sign in (SIGN_IN). */
export const SIGN_IN_WAYS = ["password", "passkey", "oidc"] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

/** What else than a domain's id says where links are: on the service's own host. */
export const DEFAULT_DOMAIN = "default";
/** What else than the id of a key says who made a link; imports are the portal's, unless they name a key. */
export const LINK_MAKERS = ["api", "portal"] as const;

/** Where a link was created: only links of the API trigger webhooks (interface, part 6). */
export const CREATED_VIA = ["api", "web"] as const;
export type CreatedVia = (typeof CREATED_VIA)[number];

/** `webhooks`: of an account whose tier has them. */
export type Limits = Readonly<Record<Tier, TierLimits>> & { readonly webhooks: number };

/** `requestsPerHour`: of each API key. */
export type TierLimits = { readonly requestsPerHour: number; readonly activeKeys: number };

/** The numbers of the interface (parts 1 and 8), which settings change. */
export const INTERFACE_LIMITS: Limits = {
  free: { requestsPerHour: 50, activeKeys: 2 },
  developer: { requestsPerHour: 500, activeKeys: 5 },
  webhooks: 5,
};

/** Custom domains and slugs, bulk creation, webhooks, ranges and feeds (interface, part 1). */
export function hasDeveloperFeatures(tier: Tier): boolean {
  return tier === "developer";
}

/**
 * Limits on the length of a stream, as every command on it reads and folds it; far beyond ordinary use. Commands that
 * deactivate, pause or remove are never refused for them.
 */
export const STREAM_LIMITS = {
  /** Of an account: API keys ever issued, webhooks and domains ever added, including removed ones. */
  keysIssued: 1_000,
  webhooksAdded: 1_000,
  domainsAdded: 1_000,
  /** Of an account: each is an event of up to 32 KB. */
  logosSet: 20,
  /** Of an account: all its events together. */
  accountEvents: 5_000,
  /** Of an account: tags that have a colour at one time. */
  tagColours: 500,
  /** Of an account: members, and invitations that are open, at one time. */
  members: 200,
  invitations: 100,
  /** Of an account: at one time. */
  sharedPages: 100,
  weeklyMails: 10,
  /** Of an account: filters of its list of links that are kept at one time. */
  savedFilters: 50,
  /** Changes of a link after its creation. */
  linkChanges: 1_000,
  /** Of a link: withdrawals of its clicks ever made, including those taken back. */
  withdrawalsMade: 1_000,
} as const;

/** Of tags, for people. */
export const TAG_COLOURS = ["red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"] as const;
export type TagColour = (typeof TAG_COLOURS)[number];

export const BULK_MAX_LINKS = 100;
export const RECENT_CLICKS = 10;
export const UNKNOWN = "unknown";
