// linkledger webhook add | change | list | show | pause | resume | rotate | remove.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";

const KEY = expect.stringMatching(/^whk_[A-Za-z0-9]{32}$/);
const UNKNOWN = "11111111-1111-4111-8111-111111111111";

let folder: TemporaryFolder;
let json: ReturnType<typeof commandLine>["json"];
let refused: ReturnType<typeof commandLine>["refused"];
beforeAll(async () => {
  folder = await temporaryFolder();
  ({ json, refused } = commandLine(folder.path));
});
afterAll(() => folder.remove());

const account = async (tier: string) =>
  (await json("account", "create", "--email", `${tier}@b.c`, "--tier", tier)).account_id;

describe("linkledger webhook", { timeout: 300_000 }, () => {
  it("adds, shows, changes, pauses, resumes, rotates and removes", async () => {
    const id = await account("developer");
    const url = "https://hooks.example.com/linkledger";
    const made = await json("webhook", "add", "--account", id, "--url", url, "--label", "first");
    expect(made).toEqual({ webhook_id: expect.any(String), key: KEY });
    const webhook = made.webhook_id;

    const { webhooks } = await json("webhook", "list", "--account", id);
    const row = {
      webhook_id: webhook,
      account_id: id,
      url,
      label: "first",
      kinds: ["click", "qr_scan"],
      status: "active",
      paused_by: null,
      reason: null,
      cause: null,
      paused_at: null,
      key_hint: made.key.slice(-4),
      previous_key_until: null,
      added_at: expect.any(String),
      changed_at: expect.any(String),
    };
    expect(webhooks).toEqual([row]);
    expect(await json("webhook", "show", webhook)).toEqual(row);
    expect(await json("account", "show", id)).toMatchObject({ webhooks: [row] });

    expect(await json("webhook", "change", webhook, "--kinds", "click,preview", "--label", "")).toEqual({
      webhook_id: webhook,
      url,
      kinds: ["click", "preview"],
      label: "",
    });
    expect(await json("webhook", "pause", webhook, "--reason", "maintenance")).toEqual({
      webhook_id: webhook,
      status: "paused",
    });
    expect(await json("webhook", "show", webhook)).toMatchObject({
      kinds: ["click", "preview"],
      status: "paused",
      paused_by: "operator",
      reason: "maintenance",
    });
    expect(await json("webhook", "resume", webhook)).toEqual({ webhook_id: webhook, status: "active" });

    const rotated = await json("webhook", "rotate", webhook);
    expect(rotated).toEqual({ webhook_id: webhook, key: KEY, previous_key_until: expect.any(String) });
    expect(rotated.key).not.toBe(made.key);
    expect(await json("webhook", "show", webhook)).toMatchObject({
      status: "active",
      reason: null,
      key_hint: rotated.key.slice(-4),
      previous_key_until: rotated.previous_key_until,
    });

    expect(await json("webhook", "remove", webhook)).toEqual({ webhook_id: webhook, status: "removed" });
    expect(await json("webhook", "remove", webhook)).toEqual({ webhook_id: webhook, status: "removed" });
    expect(await json("webhook", "list", "--account", id)).toEqual({ webhooks: [] });
    expect(await refused("webhook", "show", webhook)).toMatch(/not found/);
    expect(await refused("webhook", "rotate", webhook)).toMatch(/not found/);
  });

  it("says in one line what is wrong", async () => {
    const id = await account("free");
    const add = (url: string, ...more: string[]) =>
      refused("webhook", "add", "--account", id, "--url", url, ...more);
    expect(await add("https://hooks.example.com/")).toMatch(/Webhooks require the Developer plan/);
    await json("account", "tier", id, "developer");
    expect(await add("http://hooks.example.com/")).toMatch(/https/);
    expect(await add("https://10.0.0.1/")).toMatch(/private/);
    expect(await add("https://hooks.example.com/", "--kinds", "click,sale")).toMatch(
      /click, preview, qr_scan/,
    );
    const commands = ["show", "change", "pause", "resume", "rotate", "remove"];
    const answers = await Promise.all(commands.map((command) => refused("webhook", command, UNKNOWN)));
    for (const answer of answers) expect(answer).toMatch(/Webhook not found/);
    expect(await refused("webhook", "list", "--account", UNKNOWN)).toMatch(/not found/);
  });

  it("refuses the sixth with the interface's message", async () => {
    const { account_id: id } = await json("account", "create", "--email", "six@b.c", "--tier", "developer");
    const args = ["webhook", "add", "--account", id, "--url", "https://hooks.example.com/"];
    await Promise.all([1, 2, 3, 4, 5].map(() => json(...args)));
    expect(await refused(...args)).toBe("error: The webhook limit of 5 is reached\n");
  });
});
