// What is taken home of links that were chosen in the list, or just made from a table: a CSV table, and their QR codes in a ZIP.

import type { FastifyReply } from "fastify";
import { Zip, ZipPassThrough } from "fflate";
import { Refused } from "../../commands/refusals.ts";
import { ACCOUNT_STYLE, lookOf, scannedUrl } from "../../events/links/qr-look.ts";
import { CSV_TYPE, sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { listKeys } from "../../queries/accounts.ts";
import {
  type AccountLinksFilter,
  accountLinkPages,
  countAccountLinks,
  withClicks,
} from "../../queries/links/list-links.ts";
import { namesOf } from "../../queries/people.ts";
import { COUNTED_HEAD, countedRow } from "../../transfer/export/link-table.ts";
import { brandOf } from "../account/account-page.ts";
import { count } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { makersIn, peopleMaking } from "./links-table.ts";

const READ_AT_A_TIME = 500;
/** Images of one ZIP: a minute's work of one thread. */
const MOST_IMAGES = 1_000;
/** Pixels, enough for a flyer. */
const IMAGE_SIZE = 1_024;

/** `wanted`: links by their keys, or all that fit. @throws too_many_streams, too_many_links */
type SendFile = (
  deps: PortalDeps & { exports: OpenStreams },
  reply: FastifyReply,
  accountId: string,
  wanted: { keys: readonly string[] } | AccountLinksFilter,
) => Promise<FastifyReply>;

export const sendTable: SendFile = async (deps, reply, accountId, wanted) => {
  const file = { type: CSV_TYPE, name: "links.csv" };
  return await sendExport(reply, deps.exports, accountId, file, async function* (signal) {
    const keys = await listKeys(deps, accountId);
    yield COUNTED_HEAD;
    for await (const page of accountLinkPages(deps, accountId, { ...wanted, limit: READ_AT_A_TIME })) {
      if (signal.aborted) return;
      const rows = await withClicks(deps, page);
      const makerOf = makersIn({ keys, people: await namesOf(deps, peopleMaking(rows)) });
      yield rows.map((row) => countedRow({ ...row, madeBy: makerOf(row) }, deps.baseHost)).join("");
    }
  });
};

/** As PNG with the account's look, each in the folder of its host. @throws invalid_request for more than MOST_IMAGES */
export const sendQrCodes: SendFile = async (deps, reply, accountId, wanted) => {
  const fitting = "keys" in wanted ? wanted.keys.length : await countAccountLinks(deps, accountId, wanted);
  if (fitting > MOST_IMAGES)
    throw new Refused(
      "invalid_request",
      `At most ${count(MOST_IMAGES)} QR codes are drawn at a time, and ${count(fitting)} links fit: filter them first`,
    );
  const brand = await brandOf(deps, accountId);
  const look = lookOf(brand?.qr ?? ACCOUNT_STYLE, brand?.logo, { format: "png", size: IMAGE_SIZE });
  const file = { type: "application/zip", name: "qr-codes.zip" };
  return await sendExport(reply, deps.exports, accountId, file, async function* (signal) {
    const parts: Uint8Array[] = [];
    const zip = new Zip((error, part) => {
      if (error) throw error;
      parts.push(part);
    });
    for await (const page of accountLinkPages(deps, accountId, { ...wanted, limit: READ_AT_A_TIME }))
      for (const { _id: key, shortUrl } of page) {
        if (signal.aborted) return;
        // PNG is compressed already.
        const image = new ZipPassThrough(`${key}.png`);
        image.mtime = deps.clock();
        zip.add(image);
        image.push(Buffer.from(await deps.drawQr(scannedUrl(shortUrl), look)), true);
        yield* parts.splice(0);
      }
    zip.end();
    yield* parts.splice(0);
  });
};
