// A process of ours that goes by its parent's clock: what `serve --roles` runs, told the time over its channel.
import { parseConfig } from "../../../src/config/config.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { rolesFrom } from "../../../src/service/roles/role.ts";
import { openService } from "../../../src/service/service.ts";

let now = Date.now();
process.on("message", (told: number) => {
  now = told;
  process.send?.("heard");
});

const config = parseConfig(process.env);
const roles = rolesFrom(process.argv[2] ?? "");
const clock = () => new Date(now);
const service = await openService(config, createLogger(config.logLevel), { roles, clock });
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
