// Every command on a closed account is refused and writes neither an event nor a secret.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deactivateKey, issueKey, keyUseSecret } from "../../../src/commands/account/change-keys.ts";
import { closeAccount } from "../../../src/commands/account/close-account.ts";
import { signUp } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import {
  activateDomain,
  addDomain,
  deactivateDomain,
  removeDomain,
  setDomainHome,
  verifyDomain,
} from "../../../src/commands/domains/change-domains.ts";
import { createLinksInBulk } from "../../../src/commands/links/bulk/bulk-requests.ts";
import { changeLink } from "../../../src/commands/links/change-link.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { changeEmail } from "../../../src/commands/people/email.ts";
import {
  confirmEmailChange,
  issueEmailChange,
  issuePasswordReset,
  resetPassword,
} from "../../../src/commands/people/one-time-tokens.ts";
import {
  changePassword,
  checkCredentials,
  hashPassword,
  provePassword,
} from "../../../src/commands/people/password.ts";
import { deviceSecret, sessionSecret } from "../../../src/commands/people/secrets.ts";
import {
  addWebhook,
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../../src/commands/webhooks/change-webhooks.ts";
import { rotateWebhookKey } from "../../../src/commands/webhooks/webhook-key.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import type { Secrets } from "../../../src/stores/secrets/port.ts";
import { callerOf, openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

const password = "seven brown foxes";
const receiver = "https://hooks.example.com/linkledger";

let opened: Awaited<ReturnType<typeof openCommandDeps>>;
let deps: ReturnType<typeof portalDeps>;
const portalDeps = (all: (typeof opened)["deps"]) => ({
  ...all,
  resolveTxt: async () => [],
  receiverUrl: (text: string) => new URL(text),
});
beforeAll(async () => {
  opened = await openCommandDeps();
  deps = portalDeps(opened.deps);
});
afterAll(() => opened.close());

const BY_MAIL = { lifetimeMs: 60_000, isMailed: true };
const close = (accountId: string) => closeAccount(deps, operator, accountId);
const tokenIn = ({ path }: { path: string }) => String(path.split("token=")[1]);

/** A Developer account with one resource of each kind. */
async function member(name: string) {
  const passwordHash = await hashPassword(password);
  const { accountId } = await signUp(deps, operator, {
    email: `${name}@example.com`,
    tier: "free",
    passwordHash,
    isProven: true,
  });
  await changeTier(deps, operator, accountId, "developer");
  const { keyId } = await issueKey(deps, operator, accountId, {});
  const hostname = `${name}.example.net`;
  await addDomain(deps, operator, accountId, hostname);
  const { domainId } = await verifyDomain(deps, operator, accountId, hostname, { skipDns: true });
  const { webhookId } = await addWebhook(deps, operator, accountId, { url: receiver });
  const by = callerOf(accountId, "developer");
  const { link } = await createLink(deps, operator, by, { url: "https://example.com/" });
  const address = { host: "localhost", slug: link.slug };
  const reset = tokenIn(await issuePasswordReset(deps, accountId, BY_MAIL));
  const change = await issueEmailChange(deps, accountId, `${name}-new@example.com`, 60_000);
  const confirm = tokenIn(change ?? { path: "" });
  return { name, accountId, keyId, hostname, domainId, webhookId, by, address, reset, confirm };
}
type Member = Awaited<ReturnType<typeof member>>;

/** Every command on an account, with its error code where that is not account_not_found. */
const COMMANDS: Record<string, [run: (m: Member) => Promise<unknown>, code?: string]> = {
  "issue a key": [(m) => issueKey(deps, operator, m.accountId, {})],
  "deactivate a key": [(m) => deactivateKey(deps, operator, m.accountId, m.keyId)],
  "change the tier": [(m) => changeTier(deps, operator, m.accountId, "free")],
  "add a domain": [(m) => addDomain(deps, operator, m.accountId, "later.example.net")],
  "verify a domain": [(m) => verifyDomain(deps, operator, m.accountId, m.hostname, { skipDns: true })],
  "activate a domain": [(m) => activateDomain(deps, operator, m.accountId, m.domainId)],
  "deactivate a domain": [(m) => deactivateDomain(deps, operator, m.accountId, m.domainId)],
  "remove a domain": [(m) => removeDomain(deps, operator, m.accountId, m.hostname)],
  "set a domain's home": [
    (m) => setDomainHome(deps, operator, m.accountId, { domainId: m.domainId, url: null }),
  ],
  "add a webhook": [(m) => addWebhook(deps, operator, m.accountId, { url: receiver })],
  "change a webhook": [(m) => changeWebhook(deps, operator, m.accountId, m.webhookId, { label: "x" })],
  "pause a webhook": [(m) => pauseWebhook(deps, operator, m.accountId, m.webhookId)],
  "resume a webhook": [(m) => resumeWebhook(deps, operator, m.accountId, m.webhookId)],
  "remove a webhook": [(m) => removeWebhook(deps, operator, m.accountId, m.webhookId)],
  "rotate a webhook's key": [(m) => rotateWebhookKey(deps, operator, m.accountId, m.webhookId)],
  "create a link": [(m) => createLink(deps, operator, m.by, { url: "https://example.com/" })],
  "create links in bulk": [(m) => createLinksInBulk(deps, operator, m.by, [{ url: "https://example.com/" }])],
  "create a link as a Free account": [
    (m) => createLink(deps, operator, callerOf(m.accountId, "free"), { url: "https://example.com/" }),
  ],
  "retarget a link": [
    (m) =>
      changeLink(deps, operator, m.by, m.address, { type: "patch", patch: { url: "https://example.com/2" } }),
  ],
  "disable a link": [(m) => changeLink(deps, operator, m.by, m.address, { type: "disable" })],
  "change the password": [
    (m) => changePassword(deps, operator, m.accountId, { how: "known", wanted: "eight green foxes" }),
    "person_not_found",
  ],
  "prove the password": [(m) => provePassword(deps, m.accountId, password), "wrong_current_password"],
  "make a reset link": [(m) => issuePasswordReset(deps, m.accountId, BY_MAIL), "person_not_found"],
  "use a reset link": [(m) => resetPassword(deps, "r", m.reset, "eight green foxes"), "token_expired"],
  "change the address": [
    (m) => changeEmail(deps, m.accountId, `${m.name}-2@example.com`),
    "person_not_found",
  ],
  "make a link for a new address": [
    (m) => issueEmailChange(deps, m.accountId, `${m.name}-3@example.com`, 60_000),
    "person_not_found",
  ],
  "confirm a new address": [(m) => confirmEmailChange(deps, m.confirm), "token_expired"],
  "sign in": [
    (m) => checkCredentials(deps, { email: `${m.name}@example.com`, password }),
    "wrong_credentials",
  ],
  "close the account": [(m) => close(m.accountId)],
};

describe("a closed account", () => {
  let closed: Member;
  beforeAll(async () => {
    closed = await member("closed");
    await deps.secrets.put(keyUseSecret(closed.keyId), { value: deps.clock().toISOString() });
    for (const nameOf of [sessionSecret, deviceSecret])
      await deps.secrets.put(nameOf(closed.accountId, "browser"), { value: {} });
    await close(closed.accountId);
  });

  it.each(Object.entries(COMMANDS))("refuses to %s", async (_name, [run, code = "account_not_found"]) => {
    const before = await everything();
    await expect(run(closed)).rejects.toMatchObject({ code });
    expect(await everything()).toEqual(before);
  });

  it("leaves nothing among the secrets but what its links were mailed with, until they expire", async () => {
    const { accountId, keyId, webhookId, name } = closed;
    const itsOwn = [accountId, keyId, webhookId, `${name}@example.com`];
    const kept = await deps.secrets.list("", deps.clock());
    const left = kept.filter((secret) => itsOwn.some((text) => JSON.stringify(secret).includes(text)));
    expect(left.map(({ key }) => key.split("/")[0])).toEqual(left.map(() => "token"));
  });

  async function everything() {
    const events = await loggedEvents(deps.eventStore, {
      categories: Object.values(CATEGORY),
      limit: 10_000,
    });
    const kept = await deps.secrets.list("", deps.clock());
    // Without one-time tokens, because using one consumes it.
    return [events.map(({ id }) => id), kept.filter(({ key }) => !key.startsWith("token/"))];
  }
});

describe("an account that is closed while a command is in flight", () => {
  /** Closes the account just before the first write of a secret with this prefix. */
  function closingBefore(accountId: string, prefix: string): typeof deps {
    let isOpen = true;
    const meanwhile = async (key: string) => {
      if (!isOpen || !key.startsWith(prefix)) return;
      isOpen = false;
      await close(accountId);
    };
    const { secrets } = deps;
    const changed: Partial<Secrets> = {
      put: async (key, record) => {
        await meanwhile(key);
        await secrets.put(key, record);
      },
      putIfAbsent: async (key, record, now) => {
        await meanwhile(key);
        return await secrets.putIfAbsent(key, record, now);
      },
    };
    return { ...deps, secrets: storeWith(secrets, changed) };
  }
  const keptOf = async (accountId: string) => {
    const kept = await deps.secrets.list("", deps.clock());
    return kept
      .filter(({ key, value }) => key.includes(accountId) || JSON.stringify(value).includes(accountId))
      .map(({ key }) => key)
      .filter((key) => !/^(token|closing|webhook)/.test(key));
  };

  it.each(["account-by-email/", "email/"])("keeps no new address (closed before %s)", async (prefix) => {
    const { accountId } = await member(`address-${prefix.length}`);
    const late = closingBefore(accountId, prefix);
    await expect(changeEmail(late, accountId, "too-late@example.com")).rejects.toThrow("no such person");
    expect(await keptOf(accountId)).toEqual([]);
    expect(JSON.stringify(await deps.secrets.list("email/", deps.clock()))).not.toContain("too-late");
  });

  it("keeps no new password", async () => {
    const { accountId, reset } = await member("password");
    const late = closingBefore(accountId, "password/");
    await expect(resetPassword(late, "r", reset, "eight green foxes")).rejects.toThrow("no such person");
    expect(await keptOf(accountId)).toEqual([]);
  });
});
