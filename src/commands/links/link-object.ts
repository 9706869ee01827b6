// The Link object of every answer (interface, part 2).
import type { LinkFacts } from "./link.ts";

export type LinkObject = {
  short_url: string;
  slug: string;
  long_url: string;
  created_at: string;
  qr_download_url: string;
  custom_domain?: string;
  domain_id?: string;
};

/** `baseUrl` without a slash at the end. `custom_domain` and `domain_id` only for a link on a custom domain. */
export function linkObject(
  link: Pick<LinkFacts, "host" | "slug" | "shortUrl" | "longUrl" | "createdAt"> & {
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
    // The same slug may exist on other domains: without the id the image could be of another link.
    qr_download_url: `${qr}?domain_id=${link.domainId}`,
    custom_domain: link.host,
    domain_id: link.domainId,
  };
}
