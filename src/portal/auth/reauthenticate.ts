// Who sits at a signed-in browser proves to be its person before what can't be undone, and before changes of how they sign in: by
// the password in the form, or by having signed in another way a moment ago. The one rule for all such forms.
import { z } from "zod";
import { provePassword } from "../../commands/people/password.ts";
import { waysOf } from "../../commands/people/sign-in-ways.ts";
import { Refused } from "../../commands/refusals.ts";
import { countTry } from "../../limits/rate-limit.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Fields, type Form, fieldsOf, form, usernameField } from "../shell/controls.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { confirmed } from "../shell/layout.ts";
import { type SignedInPerson, signInPath } from "../shell/sessions.ts";

const FRESH_MS = 10 * 60_000;
/** Of passwords, in a session. */
const TRIES_AN_HOUR = 15;

/** What forms ask for: nothing, as the sign-in is fresh; the password; or a sign-in first, of who has no password. */
type Asked = "nothing" | "password" | "sign-in";

/** `ways`: all by which the person can sign in. `page`: path of the page with the forms. */
export type Reauthentication = { asks: Asked; ways: readonly string[]; email: string; page: string };

export async function reauthenticationOf(
  deps: PortalDeps,
  person: SignedInPerson,
  page: string,
): Promise<Reauthentication> {
  const ways = await waysOf(deps, person.personId);
  const asks = isFresh(deps, person) ? "nothing" : ways.includes("password") ? "password" : "sign-in";
  return { asks, ways, email: person.email, page };
}

/** A session alone is not enough for this change. Returns by what it was proven. @throws rate_limit_exceeded, wrong_current_password, sign_in_again */
export async function reauthenticate(
  deps: PortalDeps,
  person: SignedInPerson,
  password: string,
): Promise<"known" | "signed-in"> {
  if (isFresh(deps, person)) return "signed-in";
  if (!(await waysOf(deps, person.personId)).includes("password")) throw new Refused("sign_in_again");
  await countTry(deps, `proof-session ${person.sessionId}`, TRIES_AN_HOUR);
  await deps.passwordWork.known(() => provePassword(deps, person.personId, password));
  return "known";
}

/** A password that was typed at the sign-in proves less: whoever knows it can type it again. */
function isFresh({ clock }: Pick<PortalDeps, "clock">, { way, since, provider }: SignedInPerson): boolean {
  // A provider that knows the browser lets it in without asking.
  const { authenticatedAt } = provider ?? {};
  const provenAt = authenticatedAt === undefined ? Date.parse(since) : authenticatedAt * 1_000;
  return way !== "password" && clock().getTime() - provenAt < FRESH_MS;
}

/** Of forms that `reauthenticate` looks at. */
export const PasswordTyped = z.object({ password: z.string().default("") });

/** What the form with this action asks for. */
export function reauthenticationFields({ asks, ways, page }: Reauthentication, action: string): Fields {
  if (asks !== "password") return {};
  const other = html`Or <a href="${signInAgainPath(page)}">sign in again</a> in another way.`;
  return {
    password: {
      id: `password-of-${action}`,
      label: "Your current password",
      type: "password",
      autocomplete: "current-password",
      required: true,
      refusedAs: "current_password",
      hint: ways.length > 1 && other,
    },
  };
}

/** The form with what it asks for. */
export function reauthenticated(proof: Reauthentication, form: Form): Form {
  const fields = { ...fieldsOf(form), ...reauthenticationFields(proof, form.action) };
  return { ...form, fields, more: usernameField(proof.email) };
}

type ReauthenticatedPost = { button: string; question: string; action: string; words: string };

/** A button that asks first, and for the password where that is needed. */
export function reauthenticatedPost(proof: Reauthentication, post: ReauthenticatedPost): HtmlValue {
  const { button, question, action, words } = post;
  if (proof.asks === "sign-in") return false;
  const fields = reauthenticationFields(proof, action);
  const sent = form({ action, fields, button: words, buttonKind: "danger" });
  return confirmed(button, html`<p>${question}</p>`, sent, "button-small");
}

/** Instead of forms that would be refused. */
export function signInAgain({ page }: Reauthentication): Html {
  return html`<div><a class="button" href="${signInAgainPath(page)}">Sign in again</a></div>`;
}

function signInAgainPath(page: string): string {
  return `${signInPath(page)}&again=1`;
}
