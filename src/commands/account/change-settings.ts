// What an owner chooses of the pages that visitors see, of QR codes, and of the time zone of numbers: checked, then put in the
// account's stream.
import { z } from "zod";
import { cleanText } from "../../events/classification/clean-text.ts";
import {
  ACCOUNT_STYLE,
  lookOf,
  type QrLook,
  type QrStyle,
  qrStyle,
  scannedUrl,
} from "../../events/links/qr-look.ts";
import { isTimeZone, noTimeZone } from "../../runtime/moment.ts";
import type { CommandContext } from "../caller.ts";
import { verifiedHosts } from "../domains/decide-domain.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { OUR_WORDS } from "../issue-sentence.ts";
import { type AcceptUrlDeps, acceptUrl } from "../links/accept-url.ts";
import { Refused } from "../refusals.ts";
import type { Brand } from "./account.ts";
import { accountCommand, changeAccount, loadAccount } from "./account-stream.ts";
import { changeBrandTo, changeLogoTo, changeQrLookTo, changeTimeZoneTo } from "./decide-settings.ts";

export const BRAND_NAME_MAX = 60;
const COLOUR = /^#[0-9a-f]{6}$/;
/** Of as many characters as a random one, to try the look with. */
const SAMPLE_SLUG = "aaaaaaa";

/** As typed; empty for none. */
type BrandRequest = { name: string; colour: string; url: string };

/**
 * `url`: where visitors of expired and unknown links of the account's domains are led; checked like the URL of a link.
 * @throws invalid_request, invalid_url, unsafe_url, account_not_found, history_full
 */
export async function changeBrand(
  deps: CommandDeps & AcceptUrlDeps,
  context: CommandContext,
  accountId: string,
  request: BrandRequest,
): Promise<Appended> {
  const name = cleanText(request.name.trim(), BRAND_NAME_MAX + 1);
  if (name.length > BRAND_NAME_MAX)
    throw invalid("name", `The name has at most ${BRAND_NAME_MAX} characters`);
  const colour = request.colour.trim().toLowerCase();
  if (colour !== "" && !COLOUR.test(colour))
    throw invalid("colour", "The colour must be # and six hex digits, such as #0e8f8a");
  const url = request.url.trim();
  const ownHosts = verifiedHosts(await loadAccount(deps.eventStore, accountId));
  const brand: Brand = {
    ...(name !== "" && { name }),
    ...(colour !== "" && { colour }),
    ...(url !== "" && { fallbackUrl: (await acceptUrl(deps, url, ownHosts)).longUrl }),
  };
  return await changeAccount(deps, context, accountId, (account, at) =>
    changeBrandTo(account, { ...brand, at }),
  );
}

/** `image`: PNG in base64, as we have made it; null for none. @throws account_not_found, history_full */
export const changeLogo = accountCommand((account, { at }, image: string | null) =>
  changeLogoTo(account, { image, at }),
);

/** `name`: one that Intl knows, or empty for that of each browser. @throws invalid_time_zone, account_not_found, history_full */
export const changeTimeZone = accountCommand((account, { at }, name: string) => {
  if (name !== "" && !isTimeZone(name)) throw new Refused("invalid_time_zone", noTimeZone(name));
  return changeTimeZoneTo(account, { timeZone: name || null, at });
});

function invalid(field: string, message: string): Refused {
  return new Refused("invalid_request", message, { field });
}

/** As typed; `logo`: `true` or `false`. @throws invalid_request with the field's name */
export function acceptQrStyle(typed: Readonly<Record<string, unknown>>): QrStyle {
  const { data, error } = QrStyleForm.safeParse(typed, OUR_WORDS);
  if (data) return data;
  const [{ path, message } = { path: [], message: "" }] = error?.issues ?? [];
  throw invalid(path.join("."), `It ${message}.`);
}

const QrStyleForm = z.object({
  ...qrStyle,
  ecc: qrStyle.ecc.default(ACCOUNT_STYLE.ecc),
  logo: z.stringbool().default(ACCOUNT_STYLE.logo),
});

/** `drawQr`: refuses what nobody could scan, as the image itself is refused. @throws unscannable_qr, account_not_found, history_full */
export async function keepQrLook(
  deps: CommandDeps & { drawQr: (text: string, look: QrLook) => Promise<unknown>; baseUrl: string },
  context: CommandContext,
  accountId: string,
  style: QrStyle,
): Promise<Appended> {
  const sample = lookOf(style, undefined, { format: "svg", size: 512 });
  await deps.drawQr(scannedUrl(`${deps.baseUrl}/${SAMPLE_SLUG}`), sample);
  return await changeAccount(deps, context, accountId, (account, at) =>
    changeQrLookTo(account, { ...style, at }),
  );
}
