// Events of `operator-<yyyymm>`: what the operator of the service did to its projections and with its log.
import { z } from "zod";
import { eventType } from "./definition.ts";

const at = z.iso.datetime().describe("When it happened");
const projection = z.string().describe("Name of the group of projections");
const version = z.int().describe("Version of the group");
const build = z.int().describe("Number of the build");
const ofBuild = { at, projection, version, build };

export const operatorEvents = {
  OperatorSignedIn: eventType("The operator signed in, in a browser.", {
    at,
    browser: z.string().describe("Browser and operating system, as the browser named them"),
    address: z.string().describe("Of the client, anonymised: IPv4 /24, IPv6 /48"),
  }),
  ProjectionRebuildRequested: eventType(
    "The operator had projections folded again from the whole log, beside what answers.",
    {
      at,
      projections: z.array(z.string()).min(1).describe("Names of the groups of projections"),
      rules: z
        .string()
        .optional()
        .describe("The rules under which all clicks were classified again; absent: as they were recorded"),
    },
  ),
  ProjectionBuildCancelled: eventType(
    "The operator ended a build in the making; what it had folded was dropped.",
    ofBuild,
  ),
  ProjectionRolledBack: eventType(
    "The operator had the previous build fold what it lacked, and then answer again.",
    {
      ...ofBuild,
      replacedVersion: z.int().describe("Version of the build that answered until then"),
      replacedBuild: z.int().describe("Number of the build that answered until then"),
    },
  ),
  LogVerified: eventType("The operator had every event of the log checked against its seals.", {
    at,
    verdict: z
      .enum(["proved", "problem", "unsealed"])
      .describe("What it came to: unsealed when no seal covered anything"),
    events: z.int().min(0).describe("Number of events that were checked"),
    problems: z.int().min(0).describe("Number of problems that were found"),
    anchor: z
      .string()
      .describe("Of the newest seal, for a later verification (docs/audit.md); empty without one"),
  }),
};
