// A worker process of `--workers N`, started by primary.ts: the service with some roles, which counts with the others.
import { parseConfig } from "../../config/config.ts";
import { makeFilesPrivate } from "../../runtime/private-folder.ts";
import { orExit, start } from "../main.ts";
import { answersHttp, rolesFrom } from "../roles/role.ts";
import { joinWorkers } from "./worker-group.ts";

const [worker = "", list = "", commands = ""] = process.argv.slice(2);
makeFilesPrivate();
await orExit(async () => {
  const config = parseConfig(process.env);
  const roles = rolesFrom(list);
  const group = joinWorkers({ takesCommands: commands !== "" });
  await start(config, { roles, worker, group, listens: answersHttp(roles) });
  await group.ready();
});
