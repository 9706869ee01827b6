// Who holds a lease, for the people who look at it.
import { hostname } from "node:os";

/** Host and process; `newId` makes it this thread's alone. */
export function leaseHolder(newId: () => string): string {
  return `${hostname()}/${process.pid}/${newId()}`;
}
