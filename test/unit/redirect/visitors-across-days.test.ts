// Nobody can be followed from one day to the next: neither by what the log says of visitors, nor by what documents keep of it.

import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { clickTables } from "../../../src/projections/definitions/click-tables/chunk.ts";
import { accountDays } from "../../../src/projections/definitions/summaries/account-day.ts";
import { linkDays } from "../../../src/projections/definitions/summaries/day.ts";
import { fileDailySalts } from "../../../src/redirect/clicks/visitors/daily-salts.files.ts";
import { dailyVisitors } from "../../../src/redirect/clicks/visitors/daily-visitors.ts";
import { allDocuments } from "../../../src/stores/read-store/document-pages.ts";
import type { Document } from "../../../src/stores/read-store/port.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { ACCOUNT, linkClicked } from "../../support/event-store/stored-events.ts";
import { accountQuestionsOf } from "../../support/projections/account-questions.ts";
import { foldGroups, silent } from "../../support/projections/fold-groups.ts";
import { append, openStores } from "../../support/runtime/stores.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const DAYS = ["2026-03-01", "2026-03-02"] as const;
const LINK = "sho.rt/abc";
const VISITORS = ["203.0.113.9", "203.0.113.10", "2001:db8::1"];
const CODES = /[0-9a-f]{10}/g;

it("finds no code of one day on another, and counts who comes on both days twice", async () => {
  const folder = await temporaryFolder();
  const stores = await openStores();
  let now = new Date();
  const clock = () => now;
  const sleep = async () => undefined;
  const salts = fileDailySalts(folder.path);
  const visitors = dailyVisitors({ salts, clock, sleep, randomBytes, log: silent });
  for (const day of DAYS) {
    now = new Date(`${day}T10:00:00.000Z`);
    const codeOf = await visitors.codesAt(now.getTime());
    const clicks = VISITORS.map((address) => {
      const visit = { address, userAgent: "Mozilla/5.0" };
      return linkClicked({
        link: LINK,
        at: now.toISOString(),
        visitor: codeOf({ ...visit, of: LINK }),
        accountVisitor: codeOf({ ...visit, of: ACCOUNT }),
      });
    });
    await append(stores.eventStore, "clicks-w0-20260301", [...clicks, ...clicks]);
  }
  await foldGroups(stores);
  const log = await loggedEvents(stores.eventStore, { categories: ["clicks"], limit: 100 });
  const ofLog = DAYS.map((day) => {
    const events = log.filter(({ data }) => (data as { at: string }).at.startsWith(day));
    return events.flatMap(({ data }) => Object.values(data as Record<string, unknown>).map(String));
  });
  const documents = (
    await Promise.all(
      [clickTables, accountDays, linkDays].map(({ name }) =>
        allDocuments<Document & { day: string }>(stores.readStore, name, { limit: 100 }),
      ),
    )
  ).flat();
  const ofDocuments = DAYS.map((day) => documents.filter((document) => document.day === day));
  for (const [first, second] of [ofLog, ofDocuments]) {
    const codes = [first, second].map((all) => {
      // The account's id and positions are no codes of visitors.
      const text = JSON.stringify(all)
        .replaceAll(ACCOUNT, "")
        .replaceAll(/0{10}\d+/g, "");
      return new Set(Array.from(text.matchAll(CODES), ([code]) => code));
    });
    expect(codes[0]?.size).toBeGreaterThanOrEqual(VISITORS.length);
    expect(codes[0]?.intersection(codes[1] as Set<string>)).toEqual(new Set());
  }
  const ask = accountQuestionsOf(stores, new Date("2026-03-03T00:00:00.000Z"));
  expect((await ask({})).totals).toMatchObject({ people: 12, visitors: 6 });
  await stores.close();
  await folder.remove();
});
