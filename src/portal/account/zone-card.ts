// The time zone of the account's numbers, on /portal/account; and the list of all zones, of which one is chosen.
import { field } from "../shell/form.ts";
import type { Html } from "../shell/html.ts";
import { formCard } from "../shell/parts.ts";
import { errorOf, type RefusedForm, typedText } from "../shell/refused-form.ts";

/** Values and names; `given` too, where it is none of them, such as an alias. */
export function zoneOptions(chosen: string): (readonly [string, string])[] {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  if (chosen !== "" && !zones.includes(chosen)) zones.unshift(chosen);
  return zones.map((name) => [name, name.replaceAll("_", " ")] as const);
}

/** `refused`: as typed, and why it was refused. */
export function zoneCard(timeZone: string | null, refused: RefusedForm | undefined): Html {
  const value = refused ? typedText(refused.typed, "timezone") : (timeZone ?? "");
  const options = [["", "That of each browser"] as const, ...zoneOptions(value)];
  return formCard("Time zone", {
    id: "time-zone",
    lead: "In which days begin on the dashboard and in analytics, unless an address names another.",
    action: "/portal/account/time-zone",
    button: "Save",
    isRow: true,
    fields: field({
      id: "own-zone",
      label: "Time zone of your numbers",
      name: "timezone",
      value,
      options,
      error: errorOf(refused, "timezone"),
    }),
  });
}
