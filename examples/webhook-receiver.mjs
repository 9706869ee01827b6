// A whole receiver of webhooks, on Node alone: WEBHOOK_KEY=whk_... node examples/webhook-receiver.mjs
// It listens on http://127.0.0.1:4000 (PORT), refuses what is not signed with the key, and prints each event.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { WEBHOOK_KEY: key, PORT = "4000" } = process.env;
if (!key) throw new Error("WEBHOOK_KEY is unset: the key that was shown once, when the webhook was added");

function isOurs(headers, body) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((entry) => {
    const [version, signature = ""] = entry.split(",");
    const given = Buffer.from(signature, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const answer = (status, json) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
  if (!isOurs(request.headers, body)) return answer(401, { error: "Invalid webhook key" });
  answer(200, { received: true });
  const event = JSON.parse(body);
  console.log(request.headers["webhook-id"], event.event, event.data.short_url);
}).listen(Number(PORT), "127.0.0.1");
