// What a redirect costs at least: a Fastify that answers every path with the same 301 and does nothing else.
import { fastify } from "fastify";
import { benchUrl } from "./load/requests.ts";

const app = fastify();
app.get("/:slug", (_request, reply) => reply.redirect(benchUrl(0), 301));
process.send?.(await app.listen({ host: "127.0.0.1", port: 0 }));
process.once("disconnect", () => process.exit(0));
