// Validates a webhook's URL: when it is added or changed, and again before every delivery.
import { isIP } from "node:net";
import { Refused } from "../../commands/refusals.ts";
import { addressRefusal, portRefusal, type Reach } from "./safe-address.ts";

const MAX_RECEIVER_URL_LENGTH = 2048;

/**
 * The parsed URL. Host names are checked for syntax only; their addresses are checked at connection time.
 * @throws Refused (`url_refused`, `port_refused`, `address_refused`)
 */
export function receiverUrl(text: string, reach: Reach): URL {
  const url = URL.parse(text);
  if (!url || /[\s\p{Cc}]/u.test(text)) throw refused("must be a valid https address");
  if (url.href.length > MAX_RECEIVER_URL_LENGTH)
    throw refused(`must have at most ${MAX_RECEIVER_URL_LENGTH} characters`);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && reach.allowPrivate))
    throw refused(reach.allowPrivate ? "must begin with https:// or http://" : "must begin with https://");
  if (url.username !== "" || url.password !== "") throw refused("must not hold a user name or password");
  const port = portRefusal(url.port);
  if (port) throw new Refused("port_refused", port);
  checkHost(url.hostname, reach);
  return url;
}

/** URL.parse has already normalised decimal, octal, hexadecimal and full-width forms of IP addresses. */
function checkHost(hostname: string, reach: Reach): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) {
    const why = addressRefusal(host, reach);
    if (why) throw new Refused("address_refused", `${host} is ${why}`);
  } else if (!isName(host)) {
    throw refused("must name a host");
  } else if (isLocalName(host) && !reach.allowPrivate) {
    throw new Refused("address_refused", `${host} is this machine and not reachable for webhooks`);
  }
}

/** `localhost` and its subdomains are loopback names regardless of DNS (RFC 6761). */
export function isLocalName(name: string): boolean {
  return /(^|\.)localhost\.?$/i.test(name);
}

function isName(host: string): boolean {
  const name = host.replace(/\.$/, "");
  return name.length <= 253 && name.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

function refused(what: string): Refused {
  return new Refused("url_refused", `The webhook URL ${what}`);
}
