// The baseline of a redirect: Fastify with one route that answers 301. Sends its URL to the parent when it listens.
import Fastify from "fastify";

const app = Fastify({ logger: false });

app.get("/:slug", (_request, reply) =>
  reply
    .code(301)
    .header("location", "https://example.com/landing/page?utm_source=bench")
    .header("cache-control", "private, max-age=0, must-revalidate")
    .send(),
);

const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.send?.({ url });
process.once("disconnect", () => process.exit(0));
