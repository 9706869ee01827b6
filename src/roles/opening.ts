// What every role is opened with.
import type { Backend } from "../backend.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../logging.ts";
import type { Roles } from "./role.ts";

export type Opening = {
  config: Config;
  log: Logger;
  /** What rate windows, links and analytics go by. */
  clock: () => Date;
  backend: Backend;
  roles: Roles;
  /** Called at the stop, last added first; each gets eight seconds. */
  onStop: (close: () => Promise<unknown>) => void;
};
