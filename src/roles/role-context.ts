// What every role gets when it is opened.
import type { Backend } from "../backend.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Close } from "../runtime/stop-in-stages.ts";
import type { Roles } from "./role.ts";

export type RoleContext = {
  config: Config;
  log: Logger;
  /** Wall clock of rate limits, links and analytics; tests set it. */
  clock: () => Date;
  backend: Backend;
  roles: Roles;
  /** Registers a function that runs at the stop: concurrently with the others, after the last request, before the stores close. */
  onStop: (close: Close) => void;
};
