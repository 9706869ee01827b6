// Closing an account on real stores: with concurrent commands, interruptions and crashes.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { removePersonEverywhere } from "../../../src/commands/account/change-members.ts";
import { closeAccount } from "../../../src/commands/account/close-account.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { addDomain, verifyDomain } from "../../../src/commands/domains/change-domains.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { emailSecret } from "../../../src/commands/people/secrets.ts";
import { addWebhook } from "../../../src/commands/webhooks/change-webhooks.ts";
import { webhookSecret } from "../../../src/commands/webhooks/webhook-key.ts";
import { ProjectionNotBuilt } from "../../../src/projections/builds/errors.ts";
import { listKeys } from "../../../src/queries/accounts.ts";
import { domainsInService, listDomains } from "../../../src/queries/domains.ts";
import { linksToClose } from "../../../src/queries/links/links-to-close.ts";
import { accountsOf } from "../../../src/queries/people.ts";
import { listWebhooks } from "../../../src/queries/webhooks.ts";
import { accountClosings, CLOSING_CHECKPOINT } from "../../../src/service/jobs/account-closing.ts";
import { callerOf, openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { faultyEventStore } from "../../support/event-store/faulty-event-store.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, putCheckpoint } from "../../support/runtime/stores.ts";

const signal = new AbortController().signal;
const silent = { info: () => undefined, warn: () => undefined };
const HOST = "go.example.com";

describe("closing an account", () => {
  let opened: Awaited<ReturnType<typeof openCommandDeps>>;
  let deps: (typeof opened)["deps"];
  beforeEach(async () => {
    opened = await openCommandDeps();
    deps = opened.deps;
  });
  afterEach(() => opened.close());

  const receiverUrl = (url: string) => new URL(url);
  const account = async (email = "bye@example.com") =>
    (await openAccount(deps, operator, { email, tier: "developer" })).accountId;
  const links = async (accountId: string, count: number) => {
    const by = callerOf(accountId, "developer");
    for (let n = 0; n < count; n++) await createLink(deps, operator, by, { url: `https://example.com/${n}` });
  };
  const job = (more: Partial<typeof deps> = {}) =>
    accountClosings({ ...deps, ...more, log: silent, isShown: () => opened.catchUp().then(() => true) });
  const inAMinute = () => new Date(Date.now() + 60_000);
  const checkpoint = () => deps.readStore.checkpoint(CLOSING_CHECKPOINT);

  it("ends keys, domains and webhooks, also those that are added concurrently", async () => {
    const accountId = await account();
    const withResolver = { ...deps, resolveTxt: async () => [] };
    await addDomain(deps, operator, accountId, HOST);
    await verifyDomain(withResolver, operator, accountId, HOST, { skipDns: true });
    const added = { url: "https://hooks.example/" };
    const hook = await addWebhook({ ...deps, receiverUrl }, operator, accountId, added);
    const racing = Array.from({ length: 4 }, (_, n) => [
      issueKey(deps, operator, accountId),
      addDomain(deps, operator, accountId, `racing-${n}.example.com`),
      addWebhook({ ...deps, receiverUrl }, operator, accountId, added),
    ]).flat();
    const [closing, ...others] = await Promise.allSettled([
      closeAccount(deps, operator, accountId),
      ...racing,
    ]);
    expect(closing.status).toBe("fulfilled");
    for (const { reason } of others.filter(({ status }) => status === "rejected") as PromiseRejectedResult[])
      expect(reason.message).toMatch(/Account not found|is at revision|at most|limit/i);
    await opened.catchUp();
    expect((await listKeys(deps, accountId)).filter(({ status }) => status === "active")).toEqual([]);
    expect(await listDomains(deps, accountId)).toEqual([]);
    expect(await listWebhooks(deps, accountId)).toEqual([]);
    expect(await domainsInService(deps, HOST)).toEqual([]);
    await job()(signal);
    expect(await deps.secrets.list(webhookSecret(""), new Date())).toEqual([]);
    expect(await deps.secrets.get(webhookSecret(hook.webhookId), new Date())).toBeUndefined();
    const next = await account();
    await addDomain(deps, operator, next, HOST);
    const { state } = await verifyDomain(withResolver, operator, next, HOST, { skipDns: true });
    expect(state).toBe("active");
  });

  it("erases the e-mail address, which can be used again, and can't be done twice", async () => {
    const accountId = await account();
    await closeAccount(deps, operator, accountId);
    expect(await deps.secrets.get(emailSecret(accountId), new Date())).toBeUndefined();
    await expect(closeAccount(deps, operator, accountId)).rejects.toThrow("Account not found");
    await account();
  });

  it("erases nobody before it is known who is in another account, as after a loss of the documents", async () => {
    const accountId = await account();
    const other = await account("other@example.com");
    const personId = deps.newId();
    await deps.secrets.put(emailSecret(personId), { value: "colleague@example.com" });
    const at = new Date().toISOString();
    for (const joined of [accountId, other])
      await append(deps.eventStore, `account-${joined}`, [
        { type: "MemberJoined", data: { accountId: joined, personId, role: "editor", at } },
      ]);
    const emails = () =>
      Promise.all([accountId, personId].map((id) => deps.secrets.get(emailSecret(id), new Date())));
    await opened.catchUp();
    const lost = async () => {
      throw new ProjectionNotBuilt("being made", 1);
    };
    const readStore = storeWith(deps.readStore, { get: lost });
    const unknown = { accountsOf: accountsOf({ ...deps, readStore }) };
    await closeAccount({ ...deps, ...unknown }, operator, accountId);
    await job(unknown)(signal);
    expect(await emails()).toEqual(["bye@example.com", "colleague@example.com"]);
    const removal = removePersonEverywhere({ ...deps, ...unknown }, operator, personId);
    await expect(removal).rejects.toThrow(ProjectionNotBuilt);
    expect(await emails()).toEqual(["bye@example.com", "colleague@example.com"]);
    await job()(signal);
    expect(await emails()).toEqual([undefined, "colleague@example.com"]);
  });

  it("erases nobody who has joined another account since the events that the documents show", async () => {
    const [accountId, other] = [await account(), await account("other@example.com")];
    await opened.catchUp();
    const at = new Date().toISOString();
    await append(deps.eventStore, `account-${other}`, [
      { type: "MemberJoined", data: { accountId: other, personId: accountId, role: "editor", at } },
    ]);
    await closeAccount(deps, operator, accountId);
    await job()(signal);
    expect(await deps.secrets.get(emailSecret(accountId), new Date())).toBe("bye@example.com");
  });

  it("erases nobody who has left their other account since, when the log is gone through again", async () => {
    const [accountId, other] = [await account(), await account("other@example.com")];
    const at = new Date().toISOString();
    const member = { accountId: other, personId: accountId, at };
    const ofOther = `account-${other}`;
    await append(deps.eventStore, ofOther, [{ type: "MemberJoined", data: { ...member, role: "editor" } }]);
    await closeAccount(deps, operator, accountId);
    await job()(signal);
    await append(deps.eventStore, ofOther, [{ type: "MemberRemoved", data: member }]);
    await opened.catchUp();
    expect(await checkpoint()).toBeUndefined();
    await job()(signal);
    expect(await deps.secrets.get(emailSecret(accountId), new Date())).toBe("bye@example.com");
  });

  it("erases again who was removed, where an older copy of the secrets was put back", async () => {
    const accountId = await account();
    const before = await deps.secrets.list("", new Date());
    await closeAccount(deps, operator, accountId);
    await job()(signal);
    for (const { key, value } of before) await deps.secrets.put(key, { value });
    expect(await deps.secrets.get(emailSecret(accountId), new Date())).toBe("bye@example.com");
    await job()(signal);
    expect(await deps.secrets.get(emailSecret(accountId), new Date())).toBeUndefined();
  });

  it("deletes every link in several runs, which continue after an event store failure", async () => {
    const accountId = await account();
    await links(accountId, 20);
    await closeAccount(deps, operator, accountId);
    await opened.catchUp();
    const eventStore = faultyEventStore(deps.eventStore);
    const turn = job({ eventStore, clock: inAMinute });
    eventStore.script = [...Array.from({ length: 10 }, () => "none" as const), "refused"];
    await turn(signal);
    await opened.catchUp();
    const left = (await linksToClose(deps).linksLeft(accountId)).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(20);
    expect(await checkpoint()).toBeUndefined();
    await turn(signal);
    expect(await linksToClose(deps).linksLeft(accountId)).toEqual([]);
    await turn(signal);
    const [closed] = await deps.eventStore.read(`account-${accountId}`, { backwards: true, limit: 1 });
    expect(await checkpoint()).toEqual({ position: closed?.position, eventId: closed?.id });
  });

  it("is finished by the job after a crash right after the append", async () => {
    const accountId = await account();
    await links(accountId, 3);
    const killed: typeof deps.eventStore.append = async (...events) => {
      await deps.eventStore.append(...events);
      throw new Error("killed");
    };
    const eventStore = storeWith(deps.eventStore, { append: killed });
    await expect(closeAccount({ ...deps, eventStore }, operator, accountId)).rejects.toThrow("killed");
    await opened.catchUp();
    await job()(signal);
    expect(await linksToClose(deps).linksLeft(accountId)).toEqual([]);
    expect(await deps.secrets.get(emailSecret(accountId), new Date())).toBeUndefined();
  });

  it("is finished also where the checkpoint is of another log, as after an older copy was put back", async () => {
    const accountId = await account();
    await links(accountId, 3);
    await closeAccount(deps, operator, accountId);
    await opened.catchUp();
    const [closed] = await deps.eventStore.read(`account-${accountId}`, { backwards: true, limit: 1 });
    const position = closed?.position as string;
    await putCheckpoint(opened.foldStore, CLOSING_CHECKPOINT, { position, eventId: "another" });
    await job()(signal);
    expect(await linksToClose(deps).linksLeft(accountId)).toEqual([]);
  });
});
