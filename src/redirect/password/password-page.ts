// The page that asks for a link's password: a form without scripts, posted to the address that it stands at.
import { hash } from "node:crypto";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { PLAIN_STYLE, plainFrame } from "../http/plain-page.ts";

const TITLE = "This link needs a password";

const STYLE = `
  form { display: grid; gap: .75rem; max-width: 22rem; text-align: start }
  input, button { font: inherit; min-height: 3rem; box-sizing: border-box; width: 100%; padding: .5rem .75rem; border-radius: .5rem }
  input { border: 1px solid GrayText; background: Field; color: FieldText }
  button { border: 1px solid ButtonText; background: CanvasText; color: Canvas; cursor: pointer }
  :focus-visible { outline: 3px solid; outline-offset: 2px }
  p { margin: 0; font-weight: 600 }
`;

/**
 * Not `form-action`: browsers apply it to where a form's answer redirects, which is anywhere. No referrer: it
 * would be this page itself, for clicks and for the destination.
 */
export const PAGE_HEADERS = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", PLAIN_STYLE + STYLE, "base64")}'; base-uri 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/** `refusal`: why the password before was not taken; inserted without HTML escaping. */
export function passwordPage(refusal: string | undefined): string {
  const invalid = refusal === undefined ? "" : ` aria-invalid="true" aria-describedby="refusal"`;
  return plainFrame(
    TITLE,
    `<main><form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autofocus autocomplete="off" maxlength="${OPTION_LIMITS.password}"${invalid}>
${refusal === undefined ? "" : `<p id="refusal" role="alert">${refusal}</p>\n`}<button>Continue</button>
</form></main>`,
    STYLE,
  );
}
