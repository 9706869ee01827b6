// The page that asks for a link's password: a form without scripts, posted to the address that it stands at.
import { hash } from "node:crypto";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { type PageLook, pageStyle, plainFrame } from "../http/plain-page.ts";

const TITLE = "This link needs a password";

/**
 * Not `form-action`: browsers apply it to where a form's answer redirects, which is anywhere. No referrer: it
 * would be this page itself, for clicks and for the destination.
 */
export function pageHeaders(look: PageLook) {
  return {
    "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", pageStyle(look), "base64")}'; base-uri 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}

/** `refusal`: why the password before was not taken; inserted without HTML escaping. */
export function passwordPage(refusal: string | undefined, look: PageLook): string {
  const invalid = refusal === undefined ? "" : ` aria-invalid="true" aria-describedby="refusal"`;
  return plainFrame(
    TITLE,
    `<form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autofocus autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="${OPTION_LIMITS.password}"${invalid}>
${refusal === undefined ? "" : `<p id="refusal" role="alert">${refusal}</p>\n`}<button>Continue</button>
</form>`,
    look,
  );
}
