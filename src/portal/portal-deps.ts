// Deps of the portal's pages: stores, deps of commands, and the portal's own ports.

import type { Problem } from "../api/operations/problems.ts";
import type { VerificationRuns } from "../audit/verification-runs.ts";
import type { ResolveTxt } from "../commands/domains/hostname.ts";
import type { CommandDeps } from "../commands/handle-command.ts";
import type { CreateLinkDeps } from "../commands/links/create-link.ts";
import type { Mailer } from "../commands/mail/mailer.ts";
import type { PasswordWork } from "../commands/password-work.ts";
import type { AccountsOf } from "../commands/people/person-stream.ts";
import type { StopLinks } from "../commands/sharing/weekly-mails.ts";
import type { Limits, SignInWay, Tier } from "../events/vocabulary.ts";
import type { RateLimits } from "../limits/rate-limit.ts";
import type { DrawQr } from "../qr/draw-qr.ts";
import type { MakeLogo } from "../qr/logo.ts";
import type { LogReader } from "../queries/log-reader/log-reader.ts";
import type { LinkPasses } from "../redirect/password/link-pass.ts";
import type { PasswordCheck } from "../redirect/password/password-check.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Oidc } from "../sign-in/oidc/sign-in-at-provider.ts";
import type { Counts } from "../stores/counts/counts.ts";
import type { Position } from "../stores/event-store/port.ts";
import type { ReadStore } from "../stores/read-store/port.ts";
import type { Secrets } from "../stores/secrets/port.ts";
import type { DeliverySender } from "../webhooks/delivery/send-delivery.ts";
import type { DeliveryQueue } from "../webhooks/queue/queue.ts";

/** What is wrong with the service: for the operator with what is only worth a look, which costs more to find. */
export type Watched = { problems: (reader: "public" | "operator") => Promise<Problem[]> };

export type PortalDeps = CommandDeps & {
  /** Of the console; undefined: people who are marked as operators have it alone. */
  adminToken: string | undefined;
  /** Of the console: the unmapped read store, where every build has its own collection. */
  foldStore: ReadStore;
  verifications: VerificationRuns;
  readStore: ReadStore;
  secrets: Secrets;
  /** Public keys of the seals: of SECRET_KEY first, then of the key before. */
  sealKeys: readonly string[];
  rateLimits: RateLimits;
  /** Shared by all processes: of open exports. */
  counts: Counts;
  passwordWork: PasswordWork;
  log: Logger;
  /** Public origin of the service, without a trailing slash. */
  baseUrl: string;
  /** Hostname of `baseUrl`. */
  baseHost: string;
  keyPrefix: string;
  limits: Limits;
  /** Whether anybody may open an account. */
  signUp: "open" | "closed";
  /** The ways of signing in that are on. */
  signIn: readonly SignInWay[];
  /** The provider that people sign in at; undefined where that is off. */
  oidc: Oidc | undefined;
  /** After so many people sign in again. */
  sessionHours: number;
  resolveTxt: ResolveTxt;
  randomKey: () => string;
  randomToken: () => string;
  /** Undefined: the portal offers no plan. */
  planPrice: string | undefined;
  /** Of who signs up. */
  defaultTier: Tier;
  makeLogo: MakeLogo;
  drawQr: DrawQr;
  deliveryQueue: DeliveryQueue;
  logReader: LogReader;
  /** Parses a receiver URL; throws a DomainError when deliveries to it are not allowed. */
  receiverUrl: (text: string) => URL;
  /** The test tool sends with the same connector and limits as deliveries. */
  sender: Pick<DeliverySender, "send">;
  /** Undefined when SMTP_URL is unset. */
  mailer: Mailer | undefined;
  /** Of shared pages; bounded and counted as those of links. */
  sharedPasswords: { passes: LinkPasses; check: PasswordCheck };
  /** Of weekly mails. */
  stopLinks: StopLinks;
  links: CreateLinkDeps;
  /** Ids of the accounts that a person is a member of. */
  accountsOf: AccountsOf;
  /** `listener`: called when who is in an account, or what they may do, has changed. */
  onMembersChanged: (listener: (accountId: string) => void) => void;
  /** Read-your-writes for lifecycle projections (queries/read-your-writes.ts). */
  whenReadable: (position: Position | undefined) => Promise<void>;
};
