// The baseline of creating links: Fastify with one route that parses JSON and answers 201 with some. Sends its URL to the
// parent when it listens.
import Fastify from "fastify";

const app = Fastify({ logger: false });

app.post<{ Body: { url: string } }>("/api/v1/shorten", (request, reply) =>
  reply.code(201).send({
    short_url: "http://localhost/abcdefg",
    slug: "abcdefg",
    long_url: request.body.url,
    created_at: new Date().toISOString(),
  }),
);

const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.send?.({ url });
process.once("disconnect", () => process.exit(0));
