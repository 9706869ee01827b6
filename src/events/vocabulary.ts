// The words that events, commands, projections and answers share, each list written once.

export const TIERS = ["free", "developer"] as const;
export type Tier = (typeof TIERS)[number];

/** Kinds of click event (interface, part 2: analytics.eventTypes). */
export const CLICK_KINDS = ["click", "preview", "qr_scan"] as const;
export type ClickKind = (typeof CLICK_KINDS)[number];

/** Which kinds of click a webhook is sent unless its owner says otherwise. */
export const WEBHOOK_DEFAULT_KINDS = ["click", "qr_scan"] as const satisfies readonly ClickKind[];

/** Who paused a webhook: its owner, the operator of the service, or the service after too many failures. */
export const WEBHOOK_PAUSERS = ["user", "operator", "system"] as const;
export type WebhookPauser = (typeof WEBHOOK_PAUSERS)[number];

/** Why the service itself paused a webhook, where the mend depends on it: a new key also resumes one without a key. */
export const WEBHOOK_PAUSE_CAUSES = ["key_missing"] as const;
export type WebhookPauseCause = (typeof WEBHOOK_PAUSE_CAUSES)[number];

export const DEVICE_TYPES = ["mobile", "desktop", "tablet", "bot", "unknown"] as const;
export type DeviceType = (typeof DEVICE_TYPES)[number];

export const UTM_FIELDS = ["source", "medium", "campaign", "term", "content"] as const;
export type UtmField = (typeof UTM_FIELDS)[number];

/** Where a link was made: only links made through the API trigger webhooks (interface, part 6). */
export const CREATED_VIA = ["api", "web"] as const;
export type CreatedVia = (typeof CREATED_VIA)[number];

/** What each tier allows (interface, parts 1 and 8). */
export const TIER_LIMITS = {
  free: { requestsPerHour: 50, activeKeys: 2, developerFeatures: false },
  developer: { requestsPerHour: 500, activeKeys: 5, developerFeatures: true },
} as const satisfies Record<
  Tier,
  { requestsPerHour: number; activeKeys: number; developerFeatures: boolean }
>;

/**
 * The most that one stream takes in over its life: every command on it reads and folds it. Far beyond what people do,
 * and cheap to fold. What only stops or removes something is never refused for it.
 */
export const STREAM_LIMITS = {
  /** Of an account: API keys ever issued, webhooks and domains ever added, removed ones counted. */
  keysIssued: 1_000,
  webhooksAdded: 1_000,
  domainsAdded: 1_000,
  /** Of an account: all its events together. */
  accountEvents: 5_000,
  /** Of a link, after it was made. */
  linkChanges: 1_000,
} as const;

export const BULK_MAX_LINKS = 100;
export const WEBHOOKS_PER_ACCOUNT = 5;
export const RECENT_CLICKS = 10;
export const UNKNOWN = "unknown";
