// The portal role: the dependencies of the portal's pages.
import { notedSeal } from "../../audit/seals/noted-seal.ts";
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { verificationRuns } from "../../audit/verification-runs.ts";
import { txtResolver } from "../../commands/domains/hostname.ts";
import { smtpMailer } from "../../commands/mail/mailer.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { stopLinks } from "../../commands/sharing/weekly-mails.ts";
import { secretKeysOf } from "../../config/config.ts";
import type { PortalDeps } from "../../portal/portal-deps.ts";
import { accountsOf } from "../../queries/people.ts";
import type { Oidc } from "../../sign-in/oidc/sign-in-at-provider.ts";
import { deliverySender } from "../../webhooks/delivery/send-delivery.ts";
import { receiverUrl } from "../../webhooks/receiver/receiver-url.ts";
import { receiverResolver } from "../../webhooks/receiver/resolve-receiver.ts";
import { drawQrIn, makeLogoIn } from "../threads/reader.ts";
import type { RoleContext } from "./role-context.ts";
import { visitorPasswords } from "./visitor-passwords.ts";
import type { Writing } from "./writing.ts";

export async function openPortal(
  context: RoleContext,
  { links, fresh, logReader, onMembersChanged }: Writing,
): Promise<PortalDeps> {
  const { config, log, clock, backend, counts, rateLimits, passwordWork, threads, onStop } = context;
  const { eventStore, readStore, foldStore, secrets, deliveryQueue } = backend;
  const { baseUrl, baseHost, keyPrefix, planPrice, defaultTier, limits, signUp, signIn, sessionHours } =
    config;
  const reach = { allowPrivate: config.webhookAllowPrivate };
  const resolve = receiverResolver(config.dnsServers);
  const sender = deliverySender({ ...reach, resolve, now: () => clock().getTime() });
  onStop(async () => sender.destroy());
  const mailer = smtpMailer(config);
  onStop(async () => mailer?.close());
  const { adminToken } = config;
  const deps = { ...runtimeDeps, eventStore, clock, log };
  const noted = notedSeal(foldStore);
  const verifications = verificationRuns({
    ...deps,
    readStore: foldStore,
    noted,
    verify: logReader.verifyLog,
  });
  onStop(() => verifications.close());
  return {
    ...deps,
    readStore,
    secrets,
    counts,
    rateLimits,
    passwordWork,
    sharedPasswords: visitorPasswords(context),
    stopLinks: stopLinks(secretKeysOf(config)),
    links,
    accountsOf: accountsOf(backend),
    onMembersChanged,
    sealKeys: sealKeysFrom(config).map(({ publicKey }) => publicKey),
    deliveryQueue,
    logReader,
    ...{ adminToken, foldStore, verifications },
    makeLogo: makeLogoIn(threads.reader),
    drawQr: drawQrIn(threads.reader),
    receiverUrl: (url) => receiverUrl(url, reach),
    sender,
    planPrice,
    defaultTier,
    limits,
    // It ends with a password.
    signUp: signIn.includes("password") ? signUp : "closed",
    signIn,
    sessionHours,
    oidc: await openOidc(context),
    mailer,
    resolveTxt: txtResolver(config.dnsServers),
    baseUrl,
    baseHost,
    keyPrefix,
    whenReadable: fresh.whenReadable,
  };
}

/** It is asked for the first time beside the start, which waits for no provider. */
async function openOidc({ config, clock }: RoleContext): Promise<Oidc | undefined> {
  const { oidcIssuer: issuer, oidcClientId: clientId, signIn, baseUrl } = config;
  if (!issuer || !clientId || !signIn.includes("oidc")) return undefined;
  const { OidcClient } = await import("../../sign-in/oidc/oidc-client.ts");
  const { oidcClientSecret: clientSecret, oidcScopes: scopes, oidcGroupsClaim: groupsClaim } = config;
  const settings = { issuer, clientId, clientSecret, scopes, groupsClaim, baseUrl };
  const client = new OidcClient({ settings, clock });
  client.look();
  return { client, name: config.oidcName, groups: config.oidcGroups, joining: config.oidcJoin };
}
