// linkledger serve: runs the service, or some of its roles.
import { ALL_ROLES, PROCESS_ROLES, rolesFrom } from "../service/roles/role.ts";
import { type CommandRow, option } from "./command.ts";
import { type Call, withoutStores } from "./session.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "serve",
    about: "run the service until it is stopped, as npm start does",
    options: [
      option("--roles <list>", `comma separated, of ${PROCESS_ROLES.join(",")}; all by default`),
      option(
        "--workers <n>",
        "processes that answer HTTP on one port, with one more for projector and webhooks",
      ).default("1"),
    ],
    json: false,
    by: withoutStores,
    async run({ terminal }: Call, options: { roles?: string; workers: string }) {
      const roles = options.roles === undefined ? ALL_ROLES : rolesFrom(options.roles);
      // Imported lazily, so that help is shown without loading the HTTP server.
      const { orExit, startAll, workersFrom } = await import("../service/main.ts");
      await orExit(() => startAll(terminal.env, roles, workersFrom(options.workers)));
      return undefined;
    },
  },
];
