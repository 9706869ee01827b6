// A worker process of `--workers N`, started by primary.ts: the service with some roles, which counts with the others.
import { parseConfig } from "../config.ts";
import { orExit, start } from "../main.ts";
import { BACKGROUND_ROLES, rolesFrom } from "../roles/role.ts";
import { makeFilesPrivate } from "../runtime/private-folder.ts";
import { joinWorkers } from "./worker-group.ts";

const [worker = "", list = ""] = process.argv.slice(2);
makeFilesPrivate();
await orExit(async () => {
  const config = parseConfig(process.env);
  const roles = rolesFrom(list);
  const group = joinWorkers(config);
  const listens = [...roles].some((role) => !BACKGROUND_ROLES.has(role));
  await start(config, { roles, worker, group, listens });
  await group.ready();
});
