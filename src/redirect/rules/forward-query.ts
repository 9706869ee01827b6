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
  const names = new Set(parametersOf([own]).map(([name]) => name));
  const parts = sent.split("&").filter((part) => part !== "");
  const parameters = parametersOf(parts);
  const joined = parts
    .filter((_, n) => {
      const [name = "", value] = parameters[n] ?? [];
      return !names.has(name) && !(name === "qr" && value === "1");
    })
    .map(headerSafe)
    .join("&");
  if (joined === "") return location;
  if (question < 0) return `${base}?${joined}${fragment}`;
  return `${base}${own === "" || own.endsWith("&") ? "" : "&"}${joined}${fragment}`;
}

/**
 * One of each part that is not empty; all at once, as a query can have thousands. Never throws: percent-encoding
 * that is malformed stands for itself (URL Standard, 5.1).
 */
function parametersOf(parts: readonly string[]): [name: string, value: string][] {
  // Behind `&`, as URLSearchParams leaves out a first `?`, which is part of the name here.
  return [...new URLSearchParams(`&${parts.join("&")}`)];
}

function headerSafe(part: string): string {
  return part.replace(/[^\x21-\x7e]/g, (character) => {
    const byte = character.charCodeAt(0) & 0xff;
    return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
}
