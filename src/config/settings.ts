// The list of all settings: environment variable, format, default and description. docs/settings.md is printed from it.
import { resolve } from "node:path";
import type { z } from "zod";
import { INTERFACE_LIMITS } from "../events/vocabulary.ts";
import * as formats from "./formats.ts";

/**
 * `what` is the description in the table of docs/settings.md, and `unset` the default there, where it is not just what `read`
 * makes of nothing. `isSecret`: hidden in the log.
 */
export type Setting = {
  variable: string;
  read: z.ZodType;
  unset?: string;
  what: string;
  isSecret?: boolean;
  /** An empty text is a value, and not as if it were unset. */
  mayBeEmpty?: boolean;
};

/** By the names that they have in Config. */
export const SETTINGS = {
  port: {
    variable: "PORT",
    read: formats.port,
    what: "port to listen on; with 0, a free one, `BASE_URL` must be set",
  },
  host: {
    variable: "HOST",
    read: formats.text.default("127.0.0.1"),
    what: "address to listen on",
  },
  baseUrl: {
    variable: "BASE_URL",
    read: formats.baseUrl,
    unset: "`http://localhost:PORT`",
    what: "public address: API, docs and default short links. Its host name is part of each link's identity",
  },
  dataDir: {
    variable: "DATA_DIR",
    read: formats.text.default("./data").transform((folder) => resolve(folder)),
    unset: "`./data`",
    what: "the SQLite files and the service's secret",
  },
  planPrice: {
    variable: "PLAN_PRICE",
    read: formats.text.optional(),
    what: "what the Developer plan costs, such as `9 USD a month`: the portal then offers it. Without it nobody is asked for money",
  },
  defaultTier: {
    variable: "DEFAULT_TIER",
    read: formats.defaultTier,
    unset: "see right",
    what: "`free` or `developer`: the plan of who signs up. By default `developer` with the files in `DATA_DIR`, `free` with `PLAN_PRICE` or servers",
  },
  signUp: {
    variable: "SIGN_UP",
    read: formats.signUp,
    what: "`closed`: nobody opens an account for themselves; the operator does (`account create`), or invites (`account invite`, or the console)",
  },
  signIn: {
    variable: "SIGN_IN",
    read: formats.signIn,
    unset: "`password,passkey`",
    what: "how people sign in: `password`, `passkey`, `oidc`, with commas; by default all three with `OIDC_ISSUER`. What is left out is off everywhere, and its open sessions end ([people](people.md))",
  },
  sessionHours: {
    variable: "SESSION_HOURS",
    read: formats.sessionHours,
    what: "after so many hours people sign in again; where they do so at the provider, groups that have changed there take effect then",
  },
  oidcIssuer: {
    variable: "OIDC_ISSUER",
    read: formats.oidcIssuer,
    what: "the OpenID provider that people sign in at, exactly as it names itself, with or without a slash at the end ([which settings there](people.md#single-sign-on))",
  },
  oidcClientId: {
    variable: "OIDC_CLIENT_ID",
    read: formats.text.optional(),
    what: "what the provider calls this service",
  },
  oidcClientSecret: {
    variable: "OIDC_CLIENT_SECRET",
    read: formats.text.optional(),
    what: "the client's secret; none for a public client",
    isSecret: true,
  },
  oidcScopes: {
    variable: "OIDC_SCOPES",
    read: formats.oidcScopes,
    what: "what the provider is asked for, with spaces; some need `groups` for groups",
  },
  oidcName: {
    variable: "OIDC_NAME",
    read: formats.text.default("single sign-on"),
    what: "on the button “Sign in with …”",
  },
  oidcGroupsClaim: {
    variable: "OIDC_GROUPS_CLAIM",
    read: formats.text.optional(),
    what: "the claim with somebody's groups, such as `groups`",
  },
  oidcGroups: {
    variable: "OIDC_GROUPS",
    read: formats.oidcGroups,
    what: "what groups give: `GROUP=ACCOUNT_ID:ROLE` or `GROUP=operator`, with semicolons ([groups](people.md#groups))",
  },
  oidcJoin: {
    variable: "OIDC_JOIN",
    read: formats.oidcJoin,
    what: "what somebody gets who signs in there for the first time, without an invitation and without such a group: `nothing` (they are refused), `account` (one of their own), or `ACCOUNT_ID:ROLE`",
  },
  baseHostSlugs: {
    variable: "BASE_HOST_SLUGS",
    read: formats.flag,
    what: "`true`: people choose slugs on the host of `BASE_URL`, too, in the portal, by the API and on the command line; always with `SIGN_UP=closed`. Without it the API answers 400 there, and slugs are for custom domains",
  },
  rateLimitFree: {
    variable: "RATE_LIMIT_FREE",
    read: formats.limit(INTERFACE_LIMITS.free.requestsPerHour),
    what: "requests an hour and API key, and changes in the portal an hour, on the Free plan",
  },
  rateLimitDeveloper: {
    variable: "RATE_LIMIT_DEVELOPER",
    read: formats.limit(INTERFACE_LIMITS.developer.requestsPerHour),
    what: "the same on the Developer plan",
  },
  maxKeysFree: {
    variable: "MAX_KEYS_FREE",
    read: formats.limit(INTERFACE_LIMITS.free.activeKeys),
    what: "active API keys of an account on the Free plan",
  },
  maxKeysDeveloper: {
    variable: "MAX_KEYS_DEVELOPER",
    read: formats.limit(INTERFACE_LIMITS.developer.activeKeys),
    what: "the same on the Developer plan",
  },
  maxWebhooks: {
    variable: "MAX_WEBHOOKS",
    read: formats.limit(INTERFACE_LIMITS.webhooks),
    what: "webhooks of an account on the Developer plan",
  },
  keyPrefix: {
    variable: "KEY_PREFIX",
    read: formats.keyPrefix,
    what: "API keys look like `ll_<32 characters>`",
  },
  trustProxy: {
    variable: "TRUST_PROXY",
    read: formats.trustProxy,
    what: "proxies whose `X-Forwarded-For` is believed: addresses, CIDRs, `loopback`, `linklocal` or `uniquelocal`, with commas",
  },
  clientIpHeader: {
    variable: "CLIENT_IP_HEADER",
    read: formats.clientIpHeader,
    unset: "X-Forwarded-For",
    what: "the header in which the proxies of `TRUST_PROXY` name the client, such as `CF-Connecting-IP`, `X-Real-IP`, `True-Client-IP` or `Forwarded` (RFC 7239). They must set it on each request; where it is missing or no address, the proxy's own address counts, whatever `X-Forwarded-For` says",
  },
  clientCountryHeader: {
    variable: "CLIENT_COUNTRY_HEADER",
    read: formats.clientCountryHeader,
    what: "the header in which the proxies of `TRUST_PROXY` name the client's country, such as `CF-IPCountry`; it goes before `GEOIP_DB`. `XX`, `T1` and whatever else is no ISO 3166-1 alpha-2 code are unknown: then `GEOIP_DB` is asked",
  },
  clickDurability: {
    variable: "CLICK_DURABILITY",
    read: formats.clickDurability,
    what: "`durable`: the 301 is sent after its click is on disk, and 503 where none can be stored; `batched`: redirects go on then, and up to 200,000 clicks wait in memory; else a `kill -9` loses at most what was answered within 100 ms, and no more than 2,000 clicks",
  },
  clickJournalMb: {
    variable: "CLICK_JOURNAL_MB",
    read: formats.clickJournalMb,
    what: "with `EVENTSTORE_URL`: the most disk that clicks may take in `DATA_DIR/click-journal` until the event store has them; 100 MB of the disk stay free in any case",
  },
  geoipDb: {
    variable: "GEOIP_DB",
    read: formats.text.optional(),
    unset: "DB-IP city lite",
    what: "a MaxMind-format city database (GeoLite2, GeoIP2); read again when it has changed",
  },
  unsafeHostsFile: {
    variable: "UNSAFE_HOSTS_FILE",
    read: formats.text.optional(),
    what: "hosts that may not be linked to, nor their subdomains: a hosts file, or one name a line; reloaded on change",
  },
  safeBrowsingKey: {
    variable: "SAFE_BROWSING_KEY",
    read: formats.text.optional(),
    what: "key of Google Safe Browsing, which is then asked about each destination",
    isSecret: true,
  },
  safeBrowsingUrl: {
    variable: "SAFE_BROWSING_URL",
    read: formats.httpUrl,
    unset: "Google's",
    what: "another place that answers `threatMatches:find`, such as a proxy of your own",
    isSecret: true,
  },
  dnsServers: {
    variable: "DNS_SERVERS",
    read: formats.dnsServers,
    unset: "the system's",
    what: "resolvers, with commas, for the verification of custom domains and for the names of webhook receivers",
  },
  webhookAllowPrivate: {
    variable: "WEBHOOK_ALLOW_PRIVATE",
    read: formats.flag,
    what: "`true`: webhooks may go to `http`, loopback and private addresses",
  },
  tlsAskSecret: {
    variable: "TLS_ASK_SECRET",
    read: formats.token,
    what: "shown by a TLS proxy on another machine when it asks for which custom domains it may get certificates ([custom domains](custom-domains.md))",
    isSecret: true,
  },
  adminToken: {
    variable: "ADMIN_TOKEN",
    read: formats.token,
    what: "signs in to the [console](audit.md#the-console) `/admin`, and as a bearer token reads `/metrics` from other machines than this; without it the console opens for [operators](people.md#operators) alone",
    isSecret: true,
  },
  eventStoreUrl: {
    variable: "EVENTSTORE_URL",
    read: formats.eventStoreUrl,
    unset: "a file in `DATA_DIR`",
    what: "KurrentDB, such as `kurrentdb://host:2113?tls=false`, or EventStoreDB 23.10 and newer, its former name, such as `esdb://host:2113?tls=false` ([which](operations.md#kurrentdb-and-eventstoredb))",
    isSecret: true,
  },
  eventStorePrefix: {
    variable: "EVENTSTORE_PREFIX",
    read: formats.eventStorePrefix,
    what: "with `EVENTSTORE_URL`: what the names of our streams begin with there, so that other programs and other services can share it; set to nothing, they have no prefix",
    mayBeEmpty: true,
  },
  mongodbUrl: {
    variable: "MONGODB_URL",
    read: formats.mongodbUrl,
    unset: "files in `DATA_DIR`",
    what: "documents, secrets and leases in MongoDB; the database is the path, `linkledger` by default",
    isSecret: true,
  },
  redisUrl: {
    variable: "REDIS_URL",
    read: formats.redisUrl,
    unset: "files in `DATA_DIR`",
    what: "rate limits and counts of `max_clicks` of all processes together, and the salt of the day's visitor codes: `redis://user:password@host:6379/0`, `unix:///run/redis.sock?db=0`, or `redis+sentinel://user:password@host:26379,host:26379/mymaster/0`; with TLS `rediss` ([sentinels](operations.md#redis-with-sentinels))",
    isSecret: true,
  },
  secretKey: {
    variable: "SECRET_KEY",
    read: formats.secretKey,
    unset: "made and kept in `DATA_DIR`",
    what: "the service's secret, which e-mail addresses and webhook keys are encrypted with; must be set, the same for all processes and the command line, with the three servers",
    isSecret: true,
  },
  secretKeyPrevious: {
    variable: "SECRET_KEY_PREVIOUS",
    read: formats.secretKey,
    what: "the one before, while secrets are encrypted anew ([how to change it](operations.md#changing-secret_key))",
    isSecret: true,
  },
  smtpUrl: {
    variable: "SMTP_URL",
    read: formats.smtpUrl,
    what: "mail server (`smtp://user:password@host:port`, `smtps://...`): e-mail addresses are then verified and passwords reset by mail. Without it the operator makes reset links: `account password ACCOUNT_ID`",
    isSecret: true,
  },
  mailFrom: {
    variable: "MAIL_FROM",
    read: formats.mailFrom,
    unset: "`no-reply@` the base host",
    what: "sender of the service's mail",
  },
  stopSeconds: {
    variable: "STOP_SECONDS",
    read: formats.stopSeconds,
    what: "for the whole stop after SIGTERM, of all workers together: open requests, clicks, seals, stores; what takes longer is cut, so give a busy machine more; keep it two seconds below the time after which your platform kills (Docker 10 s, Kubernetes 30 s)",
  },
  logLevel: {
    variable: "LOG_LEVEL",
    read: formats.logLevel,
    what: "`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`",
  },
} as const satisfies Record<string, Setting>;
