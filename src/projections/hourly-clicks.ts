// Hits per link and UTC hour, by kind: what hourlyClicks and every time series are answered from.
import type { LinkClicked } from "../events/catalogue.ts";
import { PREFIX } from "../events/streams.ts";
import type { ClickKind } from "../events/vocabulary.ts";
import type { Document } from "../read-store/port.ts";
import type { Projection } from "./projection.ts";

/** `_id`: `<link>@YYYY-MM-DDTHH`. `hour` is the start of the hour, ISO 8601 UTC. */
export type HourlyClicksDocument = Document & Record<ClickKind, number> & { link: string; hour: string };

/** `at`: any instant of the hour, ISO 8601 UTC. */
export function hourOfLink(link: string, at: string): string {
  return `${link}@${at.slice(0, 13)}`;
}

export const hourlyClicks: Projection<HourlyClicksDocument> = {
  name: "hourly-clicks",
  version: 1,
  collection: { name: "hourly-clicks", indexes: [] },
  prefixes: [PREFIX.clicks],
  handles: ["LinkClicked"],
  key(event) {
    const { link, at } = event.data as LinkClicked["data"];
    return hourOfLink(link, at);
  },
  empty(event) {
    const { link, at } = event.data as LinkClicked["data"];
    return { link, hour: `${at.slice(0, 13)}:00:00.000Z`, click: 0, preview: 0, qr_scan: 0 };
  },
  evolve(hour, event) {
    if (event.type === "LinkClicked") hour[event.data.kind] += 1;
    return hour;
  },
};
