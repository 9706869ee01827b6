// How accounts show themselves to visitors: read where a page without a redirect is shown, and where a QR code gets a logo.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. Null where nothing is chosen. `logo`: PNG in base64. */
export type BrandDocument = Document & {
  name: string | null;
  /** `#` and six hex digits. */
  colour: string | null;
  fallbackUrl: string | null;
  logo: string | null;
};

export const brands: Projection<BrandDocument> = {
  name: "brands",
  collection: { name: "brands", indexes: [] },
  handles: ["BrandChanged", "LogoChanged", "AccountClosed"],
  key: (event) => ("accountId" in event.data ? event.data.accountId : undefined),
  empty: () => ({ name: null, colour: null, fallbackUrl: null, logo: null }),
  evolve(brand, event) {
    if (event.type === "LogoChanged") return { ...brand, logo: event.data.image };
    if (event.type === "AccountClosed") return { name: null, colour: null, fallbackUrl: null, logo: null };
    if (event.type !== "BrandChanged") return brand;
    const { name = null, colour = null, fallbackUrl = null } = event.data;
    return { ...brand, name, colour, fallbackUrl };
  },
};
