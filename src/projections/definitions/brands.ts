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

const HANDLED = ["BrandChanged", "LogoChanged", "QrLookChanged", "AccountClosed"] as const;

export const brands: Projection<BrandDocument, (typeof HANDLED)[number]> = {
  collection: { name: "brands", indexes: [] },
  handles: HANDLED,
  key: ({ data }) => data.accountId,
  empty: () => NOTHING,
  evolve(brand, event) {
    switch (event.type) {
      case "BrandChanged": {
        const { name = null, colour = null, fallbackUrl = null } = event.data;
        return { ...brand, name, colour, fallbackUrl };
      }
      case "LogoChanged":
        return { ...brand, logo: event.data.image };
      case "QrLookChanged": {
        const { accountId: _, at: __, ...qr } = event.data;
        return { ...brand, qr };
      }
      case "AccountClosed":
        return NOTHING;
    }
  },
};
