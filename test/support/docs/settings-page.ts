// The text of docs/settings.md, from the table of settings: `npm run docs:settings` writes it, a test compares it.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SETTINGS, type Setting } from "../../../src/config/settings.ts";

export const SETTINGS_PAGE = new URL("../../../docs/settings.md", import.meta.url);

const INTRODUCTION = `# Settings

<!-- Written by \`npm run docs:settings\` from src/config/settings.ts: change that, not this page. -->

All are environment variables, read once at the start. A wrong value is one clear line and exit code 1. A line of the log at the start shows what is set; secrets appear there as \`(set)\`.

| variable | default | what |
|---|---|---|
`;

export function settingsPage(): string {
  const settings: Setting[] = Object.values(SETTINGS);
  return `${INTRODUCTION}${settings.map(settingRow).join("\n")}\n`;
}

function settingRow({ variable, read, unset, what }: Setting): string {
  const usual = String(read.parse(undefined) ?? "");
  return `| \`${variable}\` | ${unset ?? (usual === "" ? "none" : `\`${usual}\``)} | ${what} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(SETTINGS_PAGE, settingsPage());
