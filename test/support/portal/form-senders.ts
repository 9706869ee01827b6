// Who may have sent a form, by the two headers in which browsers say so: every combination of their values.
import { type Answer, send } from "../service/ask.ts";

const SITES = [undefined, "same-origin", "none", "same-site", "cross-site"];
const ORIGINS = [undefined, "http://localhost", "null", "https://evil.example", "http://localhost:1"];

/** `isOwn`: a page of ours, or a client that is no browser. Sec-Fetch-Site decides; Origin where it is missing. */
export const FORM_SENDERS = SITES.flatMap((site) =>
  ORIGINS.map((origin) => ({
    headers: {
      ...(site !== undefined && { "sec-fetch-site": site }),
      ...(origin !== undefined && { origin }),
    } as Record<string, string>,
    isOwn:
      site === undefined
        ? origin === undefined || origin === "http://localhost"
        : site === "same-origin" || site === "none",
  })),
);

/** Sends a form without fields, and asks for its answer as JSON. */
export function sendForm(
  port: number,
  path: string,
  from: Record<string, string>,
  cookie: string,
): Promise<Answer<{ code?: string }>> {
  const type = "application/x-www-form-urlencoded";
  const headers = { ...from, cookie, accept: "application/json", "content-type": type };
  return send(port, path, { method: "POST", headers, body: "" });
}
