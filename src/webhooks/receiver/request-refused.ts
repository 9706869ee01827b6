// The error of a request that was not sent, because its URL, port or address is not allowed for webhooks.
import { DomainError } from "../../runtime/errors.ts";

export type RefusalCode = "url_refused" | "port_refused" | "address_refused" | "dns_failed";

/** `code` is stored in the delivery log and shown by the portal and the command line. */
export class RequestRefused extends DomainError {
  override readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
