// What the portal's pages are handed: stores, commands' needs, and the ports that only people at a browser meet.
import type { RateLimits } from "../api/limits/rate-limit.ts";
import type { Billing } from "../billing/port.ts";
import type { ResolveTxt } from "../commands/domains/txt-proof.ts";
import type { CommandDeps } from "../commands/handle-command.ts";
import type { BulkDeps } from "../commands/links/create-links-in-bulk.ts";
import type { Position } from "../event-store/port.ts";
import type { Mailer } from "../mail/port.ts";
import type { ReadStore } from "../read-store/port.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Secrets } from "../secrets/port.ts";
import type { SendDeliveryDeps } from "../webhooks/delivery/send-delivery.ts";
import type { DeliveryQueue } from "../webhooks/queue/queue.ts";
import type { LogReader } from "./analytics/log-reader.ts";

export type PortalDeps = CommandDeps & {
  readStore: ReadStore;
  secrets: Secrets;
  rateLimits: RateLimits;
  log: Logger;
  /** Public origin of the service, without a slash at the end. */
  baseUrl: string;
  /** Its hostname. */
  baseHost: string;
  /** The service's own secret; forms' tokens are made with it. */
  secretKey: string;
  keyPrefix: string;
  /** For the verification of domains. */
  resolveTxt: ResolveTxt;
  randomKey: () => string;
  randomToken: () => string;
  billing: Billing;
  deliveryQueue: DeliveryQueue;
  /** For live pages and exports. */
  logReader: LogReader;
  /** Says why no webhook may go there, or answers the URL. */
  receiverUrl: (text: string) => URL;
  /** How the test tool sends: through the same door as deliveries. */
  sending: SendDeliveryDeps;
  /** Absent where no mail server is configured. */
  mailer: Mailer | undefined;
  /** What creating and changing links needs. */
  links: BulkDeps;
  /** Settles when the documents of accounts, keys, domains and links show this event, or after a second. */
  whenReadable: (position: Position | undefined) => Promise<void>;
};
