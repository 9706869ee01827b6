// Host names as stream names, documents and certificates have them, so that they compare as plain strings: lower-case
// A-labels (RFC 5890), without port and trailing dot; however people, files and browsers write them.
import { domainToASCII } from "node:url";

const HOSTNAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/;
const NOT_ASCII = /[^ -~]/;
const NO_HOST = "";

/** Host of a Host header; "" when it is invalid. */
export function canonicalHost(header: string): string {
  const text = header.trim().toLowerCase();
  const bracketed = /^(\[[0-9a-f:.]{2,45}\])(?::\d*)?$/.exec(text);
  if (bracketed?.[1]) return bracketed[1];
  const name = text.replace(/:\d*$/, "");
  if (/^[0-9a-f:]*::[0-9a-f:.]*$/.test(name)) return `[${name}]`;
  const ascii = NOT_ASCII.test(name) && !/[ -,/:-@[-^`{-~]/.test(name) ? domainToASCII(name) : name;
  const host = ascii.replace(/\.$/, "");
  return HOSTNAME.test(host) ? host : NO_HOST;
}

/**
 * Host that a person or a file names: `Müller.example`, `m%C3%BCller.example`, `go.example.com.`,
 * `go.example.com:443` or `https://go.example.com/`; "" for what is no host, such as an address with a path.
 */
export function hostName(written: string): string {
  const [, authority = ""] = /^(?:https?:)?(?:\/\/)?([^/?#\\@]*)\/?$/i.exec(written.trim()) ?? [];
  return canonicalHost(authority.includes("%") ? decoded(authority) : authority);
}

/** Percent codes, as an address may have them; "" where they are no UTF-8. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return NO_HOST;
  }
}
