// Decides what an account's owner chooses of it: how it shows itself to visitors, how its QR codes look, and in which time zone its
// numbers are read. Pure.
import type { AccountEvent } from "../../events/catalogue.ts";
import type { QrStyle } from "../../events/links/qr-look.ts";
import { STREAM_LIMITS } from "../../events/vocabulary.ts";
import { Refused } from "../refusals.ts";
import { type AccountState, type Brand, withRoom } from "./account.ts";

/** Nothing where it is so already. @throws account_not_found, history_full */
export function changeBrandTo(
  account: AccountState,
  { at, ...brand }: Brand & { at: string },
): AccountEvent[] {
  const { accountId, brand: before } = withRoom(account);
  const isSame = before.name === brand.name && before.colour === brand.colour;
  if (isSame && before.fallbackUrl === brand.fallbackUrl) return [];
  return [{ type: "BrandChanged", data: { accountId, at, ...brand } }];
}

/** Nothing where it is so already. `timeZone`: IANA name; null for that of each browser. @throws account_not_found, history_full */
export function changeTimeZoneTo(
  account: AccountState,
  c: { timeZone: string | null; at: string },
): AccountEvent[] {
  const { accountId, timeZone } = withRoom(account);
  return timeZone === c.timeZone ? [] : [{ type: "TimeZoneChosen", data: { accountId, ...c } }];
}

/** `image`: PNG in base64; null for none. @throws account_not_found, history_full */
export function changeLogoTo(account: AccountState, c: { image: string | null; at: string }): AccountEvent[] {
  const { accountId, logos } = withRoom(account);
  if (c.image === null && !logos.isSet) return [];
  if (c.image !== null && logos.everSet >= STREAM_LIMITS.logosSet)
    throw new Refused(
      "history_full",
      `This account has had ${STREAM_LIMITS.logosSet} logos, as many as one account can have: it can only be removed now`,
    );
  return [{ type: "LogoChanged", data: { accountId, ...c } }];
}

/** Nothing where it is so already. @throws account_not_found, history_full */
export function changeQrLookTo(
  account: AccountState,
  { at, ...look }: QrStyle & { at: string },
): AccountEvent[] {
  const { accountId, qrLook } = withRoom(account);
  const before: Partial<QrStyle> = qrLook ?? {};
  const isSame = Object.entries(look).every(([name, value]) => before[name as keyof QrStyle] === value);
  return isSame ? [] : [{ type: "QrLookChanged", data: { accountId, at, ...look } }];
}
