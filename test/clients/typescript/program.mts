// Makes a link, and reads it, its numbers and its events through the generated types: what compiles here compiles for users.
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { "X-API-Key": key } });

const made = await client.POST("/api/v1/shorten", {
  body: { url: "https://example.com/typescript", title: null, redirect_code: 302, forward_query: "visitor" },
});
const slug = made.data?.slug ?? "";
const list = await client.GET("/api/v1/links", { params: { query: { scope: "account" } } });
const status = list.data?.links[0]?.status;
const path = { slug };
const whole = await client.GET("/api/v1/analytics/{slug}", { params: { path } });
const recent = whole.data?.analytics.recentClicks.map(({ device }) => device);
const range = await client.GET("/api/v1/analytics/{slug}/range", { params: { path } });
const days = range.data?.analytics.series.length;
const feed = await client.GET("/api/v1/events", { params: { query: { types: "LinkCreated" } } });
const created = feed.data?.events.flatMap((event) =>
  event.type === "LinkCreated" ? [event.data.longUrl] : [],
);
const wrong = await client.GET("/api/v1/links/{slug}", { params: { path: { slug: "none" } } });
const code = wrong.error?.code;
process.stdout.write(JSON.stringify({ slug, status, recent, days, created, code }));
