// Joins the query of a visit to a destination (`forward_query`).

/**
 * The destination's own parameters win, and its fragment stays at the end. Of the visitor's, all others are passed
 * on as they were sent, but for the QR image's `qr=1`; whatever a Location header can't hold is percent-encoded.
 * No bound of its own: Node's for the headers of a request holds, and browsers have theirs. `query`: of the short
 * URL, without `?`, with a character for each byte as Node has it.
 */
export function withQueryOf(query: string, location: string): string {
  const [sent = ""] = query.split("#", 1);
  if (sent === "") return location;
  const hash = location.indexOf("#");
  const [base, fragment] = hash < 0 ? [location, ""] : [location.slice(0, hash), location.slice(hash)];
  const question = base.indexOf("?");
  const own = question < 0 ? "" : base.slice(question + 1);
  const names = new Set(partsOf(own).map(nameOf));
  const added = partsOf(sent).filter((part) => !names.has(nameOf(part)) && !isScanMark(part));
  const joined = headerSafe(added.join("&"));
  if (joined === "") return location;
  if (question < 0) return `${base}?${joined}${fragment}`;
  return `${base}${own === "" || own.endsWith("&") ? "" : "&"}${joined}${fragment}`;
}

function partsOf(query: string): string[] {
  return query.split("&").filter((part) => part !== "");
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

function headerSafe(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, (character) => {
    const byte = character.charCodeAt(0) & 0xff;
    return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
}
