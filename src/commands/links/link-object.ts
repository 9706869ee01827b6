// The Link object of HTTP answers (interface, part 2).
import type { LinkDetails } from "./link.ts";

export type LinkObject = {
  short_url: string;
  slug: string;
  long_url: string;
  created_at: string;
  qr_download_url: string;
  custom_domain?: string;
  domain_id?: string;
};

/** `baseUrl`: without a trailing slash. `custom_domain` and `domain_id` only for a link on a custom domain. */
export function linkObject(
  link: Pick<LinkDetails, "host" | "slug" | "shortUrl" | "longUrl" | "createdAt"> & {
    domainId?: string | null | undefined;
  },
  baseUrl: string,
): LinkObject {
  const qr = `${baseUrl}/api/qr/${encodeURIComponent(link.slug)}`;
  const common = {
    short_url: link.shortUrl,
    slug: link.slug,
    long_url: link.longUrl,
    created_at: link.createdAt,
  };
  if (!link.domainId) return { ...common, qr_download_url: qr };
  return {
    ...common,
    // A slug is unique per host only: without the id the QR code of another domain's link could be served.
    qr_download_url: `${qr}?domain_id=${link.domainId}`,
    custom_domain: link.host,
    domain_id: link.domainId,
  };
}
