// All routes of the portal as registered in Fastify, so that tests cover every form and page.

import { createFastify } from "../../../src/api/create-fastify.ts";
import { requestIds } from "../../../src/api/request-id.ts";
import { passwordWork } from "../../../src/commands/password-work.ts";
import { stopLinks } from "../../../src/commands/sharing/weekly-mails.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { INTERFACE_LIMITS } from "../../../src/events/vocabulary.ts";
import { rateLimits } from "../../../src/limits/rate-limit.ts";
import { portalRoutes } from "../../../src/portal/portal.ts";
import type { PortalDeps } from "../../../src/portal/portal-deps.ts";
import { linkPasses } from "../../../src/redirect/password/link-pass.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { logReaderIn, readerThread } from "../../../src/service/threads/reader.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";
import { deliverySender } from "../../../src/webhooks/delivery/send-delivery.ts";
import { openCommandDeps } from "../commands/command-deps.ts";

export type PortalRoute = { method: string; url: string };

/** `isConsole`: those of the console alone, instead of all others. Without the HEAD routes that Fastify adds to GET routes. */
export async function listPortalRoutes(isConsole = false): Promise<PortalRoute[]> {
  const { deps, close } = await openCommandDeps();
  const log = createLogger("silent");
  const found = new Map<string, PortalRoute>();
  const app = createFastify({
    log,
    requestIdOf: requestIds(deps.newId()),
    trust: false,
    showWindow: async () => undefined,
  });
  app.addHook("onRoute", ({ method, url }) => {
    if (url.startsWith("/admin") !== isConsole) return;
    for (const one of [method].flat()) if (one !== "HEAD") found.set(`${one} ${url}`, { method: one, url });
  });
  await portalRoutes(app, {
    ...deps,
    log,
    counts: ownCounts(),
    rateLimits: rateLimits(ownCounts()),
    passwordWork: passwordWork(),
    ...{ planPrice: "9 USD a month", defaultTier: "free" },
    // Starts its thread on first use only.
    limits: INTERFACE_LIMITS,
    signUp: "open",
    ...{ signIn: ["password", "passkey"], sessionHours: 720, oidc: undefined },
    logReader: logReaderIn(readerThread(parseConfig({ DATA_DIR: "unused" }), log)),
    makeLogo: async () => ({ problem: "not here" }),
    drawQr: async () => "",
    receiverUrl: (url) => new URL(url),
    sender: deliverySender({ allowPrivate: true, resolve: async () => [], now: () => 0 }),
    ...{ adminToken: undefined, foldStore: deps.readStore },
    verifications: {} as PortalDeps["verifications"],
    sealKeys: [],
    mailer: undefined,
    resolveTxt: async () => [],
    sharedPasswords: { passes: linkPasses("unused"), check: async () => undefined },
    stopLinks: stopLinks(["unused"]),
    links: deps,
    onMembersChanged: () => undefined,
    whenReadable: async () => undefined,
    problems: async () => [],
  });
  await app.ready();
  await app.close();
  await close();
  return [...found.values()];
}
