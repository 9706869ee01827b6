// Finds environment variables that were meant as settings and are none: a misspelt SIGN_UP would leave an instance open.
import { closestName } from "../runtime/text/closest-name.ts";
import { SETTINGS } from "./settings.ts";

const KNOWN = Object.values(SETTINGS).map(({ variable }) => variable as string);
const PREFIX = "LINKLEDGER_";
/** What platforms set for a service of our name: LINKLEDGER_SERVICE_HOST, LINKLEDGER_PORT_3000_TCP, LINKLEDGER_PORT=tcp://... */
const FROM_PLATFORM = /_(SERVICE|PORT)_/;

/** One line for each; empty where every variable is a setting or looks like none. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (KNOWN.includes(name) || FROM_PLATFORM.test(name) || /^(tcp|udp):/.test(value)) return [];
    const meant = nearestSetting(name);
    if (meant !== undefined) return [`${name} is no setting and has no effect: is ${meant} meant?`];
    return name.startsWith(PREFIX) ? [`${name} is no setting and has no effect: see docs/settings.md`] : [];
  });
}

function nearestSetting(name: string): string | undefined {
  const isOurs = name.startsWith(PREFIX);
  const typed = flat(isOurs ? name.slice(PREFIX.length) : name);
  const closest = closestName(typed, KNOWN.map(flat), isOurs ? undefined : editsAllowed(typed));
  return KNOWN.find((known) => flat(known) === closest);
}

/** Others' names are short and alike: HOME is not HOST. */
function editsAllowed({ length }: string): number {
  return length < 6 ? 0 : length < 8 ? 1 : 2;
}

function flat(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}
