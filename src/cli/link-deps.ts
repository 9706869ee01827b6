// What commands create and change links with: the same as the service's own, by which their owners do.
import { currentAccounts } from "../commands/account/account-stream.ts";
import type { CreateLinkDeps } from "../commands/links/create-link.ts";
import { passwordWork } from "../commands/password-work.ts";
import { createLogger } from "../runtime/logging.ts";
import { catchUp, type Session } from "./session.ts";

export async function linkDepsOf(session: Session): Promise<CreateLinkDeps> {
  const { backend, config, deps, terminal } = session;
  // Loaded where links are made, and not by each command.
  const { linkDeps } = await import("../service/roles/writing.ts");
  const log = createLogger("warn", terminal.stderr);
  const writing = { config, log, clock: deps.clock, backend, passwordWork: passwordWork() };
  const writesAreReadable = () => catchUp(session).then(() => true);
  return linkDeps(writing, { accounts: currentAccounts(deps.eventStore), writesAreReadable });
}
