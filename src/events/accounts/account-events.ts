// Events of `account-<uuid>`: the account, its tier, members, keys, domains and webhooks; without e-mail addresses and keys.
// And of `domain-<hostname>`: who owns it; of `person-<uuid>`: who signs in.
import { z } from "zod";
import { eventType } from "../definition.ts";
import { LINK_STATUSES } from "../links/link-status.ts";
import { QR_CORRECTIONS, QR_SHAPES } from "../links/qr-look.ts";
import {
  CLICK_KINDS,
  CREATED_VIA,
  KEY_SCOPES,
  ROLES,
  TAG_COLOURS,
  TIERS,
  WEBHOOK_PAUSE_CAUSES,
  WEBHOOK_PAUSERS,
} from "../vocabulary.ts";
import { WEBHOOK_EVENTS } from "../webhook-selection.ts";

const accountId = z.uuid().describe("The account");
const at = z.iso.datetime().describe("When it happened");
const ofAccount = { accountId, at };
const hostname = z.string().describe("Lower-case A-label form");
const domainId = z.uuid().describe("The domain's id in the API, issued by its verification");
const keyId = z.uuid().describe("The API key's id, which is not the key");
const keySecret = {
  /** SHA-256 of the whole key, hex. */
  keyHash: z.string().regex(/^[0-9a-f]{64}$/),
  hint: z.string().describe("The key's last four characters"),
};
/** What links it shows; of several members, those that all of them fit. */
const SavedFilter = z.object({
  q: z.string().optional().describe("Words that are searched for"),
  tag: z.string().optional(),
  status: z.enum(LINK_STATUSES).optional(),
  domainId: z.string().optional().describe("A domain's id, or `default`"),
  madeBy: z.string().optional().describe("A key's id, `api` or `portal`"),
  from: z.string().optional().describe("Made at or after, as it was typed"),
  to: z.string().optional().describe("Made before, as it was typed"),
});
export type SavedFilter = z.infer<typeof SavedFilter>;
const ofDomain = { ...ofAccount, hostname, domainId };
const personId = z.uuid().describe("The person, whose address and name are not in the log");
const role = z.enum(ROLES).describe("What a member with it may do: docs/people.md");
const invitationId = z.uuid().describe("The invitation; the address that it was sent to is not in the log");

export const accountEvents = {
  AccountOpened: eventType(
    "The account was opened: its first event. Its owner is the person with its id, or the one that it names.",
    {
      ...ofAccount,
      tier: z.enum(TIERS),
      ownerId: z.uuid().optional(),
    },
  ),
  TierChanged: eventType("The account moved to another tier.", {
    ...ofAccount,
    from: z.enum(TIERS),
    to: z.enum(TIERS),
  }),
  TimeZoneChosen: eventType("The time zone of the account's numbers in the portal was chosen.", {
    ...ofAccount,
    timeZone: z.string().nullable().describe("IANA name; null: that of each browser"),
  }),
  BrandChanged: eventType(
    "How the account shows itself to visitors was changed; holds all of it, changed or not.",
    {
      ...ofAccount,
      name: z.string().optional().describe("Shown on its links' pages"),
      colour: z
        .string()
        .regex(/^#[0-9a-f]{6}$/)
        .optional()
        .describe("Of these pages"),
      fallbackUrl: z
        .string()
        .optional()
        .describe("Where visitors of expired and unknown links of its domains are led"),
    },
  ),
  QrLookChanged: eventType("How the account's QR codes look was chosen; holds all of it.", {
    ...ofAccount,
    dark: z.string().describe("Of its modules: `#` and hex digits, as typed"),
    light: z.string().describe("Behind them"),
    margin: z.number().int().describe("In modules"),
    shape: z.enum(QR_SHAPES).describe("Of its modules"),
    frame: z.string().describe("Words below it, on a frame; empty without one"),
    ecc: z.enum(QR_CORRECTIONS).describe("Error correction level"),
    logo: z.boolean().describe("Whether the account's logo is in the middle"),
  }),
  LogoChanged: eventType(
    "The logo of the account's QR codes was set or removed.",
    {
      ...ofAccount,
      /** PNG in base64, as we have drawn it anew from what was uploaded. */
      image: z.base64().nullable(),
    },
    { internal: ["image"] },
  ),
  AccountClosed: eventType("The account was closed for good.", ofAccount),
  MemberInvited: eventType("Somebody was invited to the account, or an open invitation was sent again.", {
    ...ofAccount,
    invitationId,
    role,
    expiresAt: z.iso.datetime().describe("Until then it can be accepted"),
    invitedBy: z
      .uuid()
      .optional()
      .describe("The person or API key whose role bounds the invitation's; absent for the operator"),
  }),
  InvitationWithdrawn: eventType("An invitation was taken back.", { ...ofAccount, invitationId }),
  MemberJoined: eventType("Somebody became a member of the account.", {
    ...ofAccount,
    personId,
    role,
    invitationId: invitationId.optional(),
    through: z
      .enum(["group", "newcomer"])
      .optional()
      .describe(
        "Absent for an invitation; else by a group at the provider that they sign in at, or as everybody who comes from there",
      ),
  }),
  MemberRoleChanged: eventType("A member of the account got another role.", {
    ...ofAccount,
    personId,
    from: z.enum(ROLES),
    to: z.enum(ROLES),
  }),
  MemberRemoved: eventType("A member left the account, or was removed from it.", { ...ofAccount, personId }),
  KeyIssued: eventType(
    "An API key was issued.",
    {
      ...ofAccount,
      keyId,
      ...keySecret,
      label: z.string().describe("As typed by the owner"),
      scopes: z
        .array(z.enum(KEY_SCOPES))
        .min(1)
        .optional()
        .describe("What it may be used for; absent for all but `members`"),
      personId: personId
        .optional()
        .describe("Whose key it is, bounded by their role; absent for one of the account"),
      expiresAt: z.iso.datetime().optional().describe("From then on it is refused; absent: never"),
      networks: z
        .array(z.string())
        .min(1)
        .optional()
        .describe("The networks that it may be used from, as CIDR; absent for all addresses"),
    },
    { internal: ["keyHash"] },
  ),
  KeyRotated: eventType(
    "An API key got a new text; its id and what it may do stay.",
    {
      ...ofAccount,
      keyId,
      ...keySecret,
      previousUntil: z.iso.datetime().describe("Until then at most the texts before are accepted, too"),
    },
    { internal: ["keyHash"] },
  ),
  KeyDeactivated: eventType("An API key was deactivated.", { ...ofAccount, keyId }),
  TagColoured: eventType("A tag got a colour, or lost it.", {
    ...ofAccount,
    tag: z.string().describe("As links carry it"),
    colour: z.enum(TAG_COLOURS).nullable().describe("null: none any more"),
  }),
  FilterSaved: eventType("A filter of the list of links was kept under a name, or removed.", {
    ...ofAccount,
    name: z.string().describe("As typed by the owner"),
    filter: SavedFilter.nullable().describe("null: removed"),
  }),
  DomainAdded: eventType(
    "A custom domain was added, not verified yet.",
    {
      ...ofAccount,
      hostname,
      /** The required value of its DNS TXT record. */
      token: z.string(),
    },
    { internal: ["token"] },
  ),
  DomainVerified: eventType("A custom domain was verified.", {
    ...ofAccount,
    hostname,
    domainId,
    how: z.enum(["dns", "operator"]).describe("By its TXT record, or vouched for by the operator"),
  }),
  DomainActivated: eventType("A custom domain became active: its links redirect.", ofDomain),
  DomainDeactivated: eventType("A custom domain became inactive.", {
    ...ofDomain,
    reason: z
      .enum(["record_lost"])
      .optional()
      .describe("Present when the daily check did it, as its TXT record has been missing for days"),
  }),
  DomainRemoved: eventType("A custom domain was removed.", {
    ...ofAccount,
    hostname,
    domainId: domainId.optional(),
    reason: z
      .enum(["taken_over"])
      .optional()
      .describe("Present when another account verified the hostname while this one's TXT record was missing"),
  }),
  DomainRecordLost: eventType("The daily check found the TXT record of a custom domain missing.", ofDomain),
  DomainRecordFound: eventType("The daily check found a missing TXT record again.", ofDomain),
  DomainHomeSet: eventType("The home page of a custom domain was chosen.", {
    ...ofDomain,
    homeUrl: z
      .string()
      .nullable()
      .describe("Where the domain's `/` redirects to; null: the service's own page"),
  }),
};

const ofWebhook = { accountId, webhookId: z.uuid().describe("The webhook"), at };
const keyHint = z.string().describe("The last four characters of its key");
const publicKey = z
  .string()
  .regex(/^whpk_[A-Za-z0-9+/]{43}=$/)
  .optional()
  .describe("Of its Ed25519 key pair, by which `v1a` signatures are verified");

/** Chosen by the owner. */
const settings = {
  /** Without user name, password and fragment; internal, as the path or query of a receiver is often its secret. */
  url: z.string(),
  kinds: z.array(z.enum(CLICK_KINDS)).min(1).describe("The kinds of click that it gets"),
  label: z.string().describe("As typed by the owner"),
  events: z
    .array(z.enum(WEBHOOK_EVENTS))
    .min(1)
    .optional()
    .describe("What it is told of; absent for `link.clicked` alone"),
  via: z
    .array(z.enum(CREATED_VIA))
    .min(1)
    .optional()
    .describe("Only of links that were created this way; absent for those of the API"),
  domains: z.array(z.string()).min(1).optional().describe("Only of links on these hosts; absent for all"),
  tags: z
    .array(z.string())
    .min(1)
    .optional()
    .describe("Only of links with one of these tags; absent for all"),
};

export const webhookEvents = {
  WebhookAdded: eventType(
    "A webhook was added.",
    { ...ofWebhook, ...settings, keyHint, publicKey },
    { internal: ["url"] },
  ),
  WebhookChanged: eventType(
    "Settings of a webhook were changed; holds all of them, changed or not.",
    { ...ofWebhook, ...settings },
    { internal: ["url"] },
  ),
  WebhookPaused: eventType("A webhook was paused.", {
    ...ofWebhook,
    by: z.enum(WEBHOOK_PAUSERS).describe("Its owner, the operator, or the service after too many failures"),
    reason: z.string().optional().describe("For people"),
    cause: z.enum(WEBHOOK_PAUSE_CAUSES).optional().describe("Present when its key was missing"),
  }),
  WebhookResumed: eventType("A paused webhook was resumed.", ofWebhook),
  WebhookKeyRotated: eventType("A webhook got a new key.", {
    ...ofWebhook,
    keyHint,
    publicKey,
    previousUntil: z.iso.datetime().describe("Until then deliveries are signed with the previous key too"),
  }),
  WebhookRemoved: eventType("A webhook was removed.", ofWebhook),
};

const claim = {
  hostname,
  accountId: z.uuid().describe("The owner of the verified hostname"),
  domainId: z
    .uuid()
    .describe("Names this claim: the domain's id in the API, unless the account has had the hostname before"),
  at,
};

/** Which account owns a verified hostname; appended with NO_STREAM or an exact revision. */
export const domainEvents = {
  DomainClaimed: eventType(
    "A verified hostname became an account's own: no other account can use it.",
    claim,
  ),
  DomainReleased: eventType("An account gave a hostname up, or lost it to its new owner.", claim),
};

const ofPerson = { personId, at };
const ofPasskey = {
  ...ofPerson,
  passkeyId: z.uuid().describe("The passkey, whose name and public key are not in the log"),
};

const ofIdentity = {
  ...ofPerson,
  identityId: z.uuid().describe("Names issuer and subject, which are not in the log"),
};

/** What could name somebody is kept in the secrets, which can be destroyed. */
export const personEvents = {
  PersonRegistered: eventType(
    "Somebody signed in for the first time, without an account of their own. Who opens one is a person by that, with its id.",
    ofPerson,
  ),
  PasswordChanged: eventType("A password was chosen, or the person no longer has one.", {
    ...ofPerson,
    how: z
      .enum(["known", "link", "signed-in", "removed"])
      .describe(
        "By who knew the one before, by a link to choose a new one, or by who had just signed in another way; or it was removed",
      ),
  }),
  IdentityLinked: eventType("Somebody signs in at a provider from now on.", {
    ...ofIdentity,
    how: z
      .enum(["first", "address", "button"])
      .describe(
        "At the first sign-in of all; by an address that was proven on both sides; or by who was signed in",
      ),
  }),
  IdentityUnlinked: eventType("Somebody no longer signs in at a provider.", ofIdentity),
  PasskeyAdded: eventType("A passkey was added, by which the person signs in.", ofPasskey),
  PasskeyRemoved: eventType("A passkey was removed.", ofPasskey),
  SessionsEnded: eventType("Somebody signed out everywhere, or in one other browser.", {
    ...ofPerson,
    sessions: z.enum(["all", "one"]),
  }),
  SignInLinkIssued: eventType("The operator made a link that signs the person in, once.", {
    ...ofPerson,
    expiresAt: z.iso.datetime().describe("Until then it works"),
  }),
  OperatorMarked: eventType(
    "The person became an operator of this service: what is under `/admin` opens with their own session.",
    ofPerson,
  ),
  OperatorUnmarked: eventType("The person is no operator of this service any more.", ofPerson),
  PersonRemoved: eventType("What names the person was destroyed for good.", ofPerson),
};
