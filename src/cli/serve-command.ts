// linkledger serve: the service itself, as `npm start` runs it.
import { type Command, InvalidArgumentError } from "commander";
import { parseConfig } from "../config.ts";

const ROLES = ["redirect", "api", "portal", "projector", "webhooks"] as const;

export function serveCommand(program: Command): void {
  program
    .command("serve")
    .description("run the service until it is told to stop")
    .option("--roles <list>", `comma separated, of ${ROLES.join(",")}; all by default`, allRoles)
    .action(async () => {
      // Loaded only here: every other command starts faster without the HTTP server.
      const { start } = await import("../main.ts");
      await start(parseConfig(process.env));
    });
}

/** The embedded stores are those of one process, which must then have all roles. */
function allRoles(given: string): readonly string[] {
  const roles = given.split(",").map((role) => role.trim());
  const unknown = roles.find((role) => !(ROLES as readonly string[]).includes(role));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no role ${unknown}.`);
  if (ROLES.some((role) => !roles.includes(role)))
    throw new InvalidArgumentError("The embedded stores need all roles in one process.");
  return roles;
}
