// What every role is opened with.
import type { Backend } from "../backend.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Close } from "../runtime/stop-in-stages.ts";
import type { Roles } from "./role.ts";

export type RoleContext = {
  config: Config;
  log: Logger;
  /** What rate windows, links and analytics go by. */
  clock: () => Date;
  backend: Backend;
  roles: Roles;
  /** Called at the stop, all at once, after the last request and before the stores are closed. */
  onStop: (close: Close) => void;
};
