// Joins the query of a visit to a destination (`forward_query`).
import { queryInLocation } from "../../runtime/addresses/location.ts";

/**
 * The location with the parameters of both, and its fragment at the end. Of two of one name those of `winner` are kept, all
 * others as they were sent, but for the QR image's `qr=1`, and percent-encoded where a URI has to be.
 * No bound of its own: Node's for the headers of a request holds, and browsers have theirs. `query`: of the short
 * URL, without `?`, with a character for each byte as Node has it.
 */
export function withQueryOf(query: string, location: string, winner: "destination" | "visitor"): string {
  const [sent = ""] = query.split("#", 1);
  if (sent === "") return location;
  const hash = location.indexOf("#");
  const [base, fragment] = hash < 0 ? [location, ""] : [location.slice(0, hash), location.slice(hash)];
  const question = base.indexOf("?");
  const path = question < 0 ? base : base.slice(0, question);
  const own = question < 0 ? "" : base.slice(question + 1);
  const theirs = partsOf(sent).filter((part) => !isScanMark(part));
  const added = queryInLocation((winner === "visitor" ? theirs : without(theirs, partsOf(own))).join("&"));
  if (added === "") return location;
  const kept = winner === "visitor" ? without(own.split("&"), theirs).join("&") : own;
  const separator = kept === "" || kept.endsWith("&") ? "" : "&";
  return `${path}?${kept}${separator}${added}${fragment}`;
}

function partsOf(query: string): string[] {
  return query.split("&").filter((part) => part !== "");
}

/** The parameters whose names none of `others` has. */
function without(parameters: readonly string[], others: readonly string[]): string[] {
  const names = new Set(others.map(nameOf));
  return parameters.filter((part) => !names.has(nameOf(part)));
}

const ENCODED = /[%+]|[^ -~]/;

/** Never throws: percent-encoding that is malformed stands for itself (URL Standard, 5.1). */
function nameOf(part: string): string {
  const equals = part.indexOf("=");
  const name = equals < 0 ? part : part.slice(0, equals);
  return ENCODED.test(name) ? decoded(name) : name;
}

function isScanMark(part: string): boolean {
  const equals = part.indexOf("=");
  return equals > 0 && nameOf(part) === "qr" && decoded(part.slice(equals + 1)) === "1";
}

/** Behind `&`, as URLSearchParams leaves out a first `?`, which is part of a name here. */
function decoded(text: string): string {
  const [[name = ""] = []] = new URLSearchParams(`&${text.replaceAll("=", "%3D")}`);
  return name;
}
