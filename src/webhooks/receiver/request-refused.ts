// A request that was never made: the URL, port or address is not one that webhooks may go to.
import { DomainError } from "../../runtime/errors.ts";

export type RefusalCode = "url_refused" | "port_refused" | "address_refused" | "dns_failed";

/** `code` ends in the delivery log and is what the portal and the command line show. */
export class RequestRefused extends DomainError {
  override readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
