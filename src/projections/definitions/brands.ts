// How accounts show themselves to visitors: read where a page without a redirect is shown, and where a QR code gets a logo.
import type { QrStyle } from "../../events/links/qr-look.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. Null where nothing is chosen. `logo`: PNG in base64. */
export type BrandDocument = Document & {
  name: string | null;
  /** `#` and six hex digits. */
  colour: string | null;
  fallbackUrl: string | null;
  logo: string | null;
  /** Where the account has kept one. */
  qr?: QrStyle;
};

const NOTHING = { name: null, colour: null, fallbackUrl: null, logo: null };

export const brands: Projection<BrandDocument> = {
  collection: { name: "brands", indexes: [] },
  handles: ["BrandChanged", "LogoChanged", "QrLookChanged", "AccountClosed"],
  key: (event) => ("accountId" in event.data ? event.data.accountId : undefined),
  empty: () => NOTHING,
  evolve(brand, event) {
    if (event.type === "LogoChanged") return { ...brand, logo: event.data.image };
    if (event.type === "AccountClosed") return NOTHING;
    if (event.type === "QrLookChanged") {
      const { accountId: _, at: __, ...qr } = event.data;
      return { ...brand, qr };
    }
    if (event.type !== "BrandChanged") return brand;
    const { name = null, colour = null, fallbackUrl = null } = event.data;
    return { ...brand, name, colour, fallbackUrl };
  },
};
