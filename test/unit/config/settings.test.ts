// The list of settings, its page in the documents, and the defaults that it states.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeConfig, parseConfig } from "../../../src/config/config.ts";
import { SETTINGS, type Setting } from "../../../src/config/settings.ts";
import { SETTINGS_PAGE, settingsPage } from "../../support/docs/settings-page.ts";

const page = readFileSync(SETTINGS_PAGE, "utf8");
const settings: Setting[] = Object.values(SETTINGS);

describe("the settings", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));

  it("change nothing when they are set to the default that docs/settings.md shows", () => {
    const defaults = rows.flatMap((row) => {
      const [, variable = "", unset = ""] = /^\| `(\w+)` \| `([^`]+)` \|/.exec(row) ?? [];
      return variable ? [[variable, unset.replace("PORT", "3000")] as const] : [];
    });
    expect(defaults.length).toBeGreaterThan(8);
    for (const [variable, unset] of defaults)
      if (variable !== "MAIL_FROM")
        expect(parseConfig({ [variable]: unset }), variable).toEqual(parseConfig({}));
  });

  it("are the page that `npm run docs:settings` writes", () => {
    expect(page).toBe(settingsPage());
  });

  it("appear in the log at the start as `(set)` when they are secret", () => {
    const text = "s3cret-of-more-than-thirty-two-characters";
    const secrets = settings.filter(({ isSecret }) => isSecret);
    // The message of a refused value contains an example, which begins with the scheme.
    const env = secrets.map(({ variable, read }) => {
      const refusal = read.safeParse("?").error?.issues[0]?.message ?? "";
      const values = [/\w+:\/\//.exec(refusal)?.[0] ?? "", "https://"].map((scheme) => scheme + text);
      return [variable, values.find((value) => read.safeParse(value).success)];
    });
    const shown = describeConfig(parseConfig(Object.fromEntries(env)));
    expect(JSON.stringify(shown)).not.toContain(text);
    expect(Object.values(shown).filter((value) => value === "(set)")).toHaveLength(secrets.length);
  });
});

it.each([
  [{}, "developer"],
  [{ PLAN_PRICE: "9 USD a month" }, "free"],
  [
    {
      EVENTSTORE_URL: "esdb://host:2113",
      MONGODB_URL: "mongodb://host/",
      REDIS_URL: "redis://host:6379",
      SECRET_KEY: "a secret of thirty-two characters",
    },
    "free",
  ],
  [{ PLAN_PRICE: "9 USD a month", DEFAULT_TIER: "developer" }, "developer"],
])("with %j who signs up is on the %s plan", (env, tier) => {
  expect(parseConfig(env).defaultTier).toBe(tier);
});
