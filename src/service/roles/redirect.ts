// The redirect role: the link look-up, what lets visits in, and the click recorder.
import { join } from "node:path";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { secretKeyOf } from "../../config/config.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { lossNotesIn } from "../../redirect/clicks/loss-notes.files.ts";
import { ClickRecorder } from "../../redirect/clicks/recorder.ts";
import type { RedirectDeps } from "../../redirect/http/handler.ts";
import { brandLookup } from "../../redirect/lookup/brand-lookup.ts";
import { LinkLookup } from "../../redirect/lookup/look-up.ts";
import { passwordGate } from "../../redirect/password/password-gate.ts";
import { countryOfAddress } from "../../redirect/rules/country-of.ts";
import { visitReader } from "../../redirect/rules/visit.ts";
import { type Admit, admission } from "../../redirect/visits/admission.ts";
import { clickLimit } from "../../redirect/visits/click-limit.ts";
import type { LogFollower } from "../../stores/coordination/log-follower.ts";
import { clickWriterIn, countryOfIn } from "../threads/writer.ts";
import type { RoleContext } from "./role-context.ts";
import { visitorPasswords } from "./visitor-passwords.ts";

export type RedirectRole = RedirectDeps & {
  lookup: LinkLookup;
  recorder: ClickRecorder;
};

export function openRedirect(context: RoleContext, follower: LogFollower): RedirectRole {
  const { config, log, clock, backend, health, threads, onStop } = context;
  const { baseHost, baseUrl } = config;
  const { eventStore, readStore } = backend;
  const { random, newId } = runtimeDeps;
  const writer = clickWriterIn(threads.writer);
  // Now, as clicks that an ended process has left may wait.
  writer.status().catch(() => undefined);
  const recorder = new ClickRecorder({
    durability: config.clickDurability,
    writer,
    random,
    newId,
    notes: lossNotesIn(join(config.dataDir, "lost-clicks"), process.pid),
    health,
    log,
  });
  onStop((withinMs) => recorder.close(withinMs));
  const isFollowing = () => follower.isFollowing;
  const lookup = new LinkLookup({ eventStore, readStore, baseHost, isFollowing, random });
  follower.listen((event) => lookup.onEvent(event));
  const visitOf = visitReader(secretKeyOf(config));
  const countryOf = countryOfAddress(countryOfIn(threads.writer));
  const admit = openAdmission(context);
  const stats = { found: 0, notFound: 0, disabled: 0, blocked: 0, expired: 0, asked: 0, error: 0 };
  const now = () => clock().getTime();
  const brands = brandLookup({ readStore, domains: lookup.domains });
  return { lookup, brands, recorder, visitOf, countryOf, admit, baseHost, baseUrl, now, stats };
}

function openAdmission(context: RoleContext): Admit {
  const { log, backend, countVisits } = context;
  const { readStore } = backend;
  const people = async (link: string) =>
    (await readStore.get<LinkTotalsDocument>(linkTotals.name, link))?.people ?? 0;
  const gate = passwordGate({ ...visitorPasswords(context), log });
  return admission({ limit: clickLimit({ countVisits, people }), gate });
}
