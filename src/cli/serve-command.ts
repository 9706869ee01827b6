// linkledger serve: runs the service, or some of its roles.
import { type Command, InvalidArgumentError } from "commander";
import { parseConfig } from "../config.ts";
import { ALL_ROLES, ROLES, type Roles, rolesFrom } from "../roles/role.ts";

export function serveCommand(program: Command): void {
  program
    .command("serve")
    .description("run the service until it is stopped, as npm start does")
    .option("--roles <list>", `comma separated, of ${ROLES.join(",")}; all by default`, roles)
    .option(
      "--workers <n>",
      "processes that answer HTTP on one port, with one more for projector and webhooks",
      "1",
    )
    .action(async (options: { roles?: Roles; workers: string }) => {
      // Imported lazily, so that other commands start without loading the HTTP server.
      const { orExit, startAll, workersFrom } = await import("../main.ts");
      await orExit(() =>
        startAll(parseConfig(process.env), options.roles ?? ALL_ROLES, workersFrom(options.workers)),
      );
    });
}

function roles(given: string): Roles {
  try {
    return rolesFrom(given);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
