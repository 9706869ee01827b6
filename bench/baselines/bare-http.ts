// The floor of a redirect: node:http alone. Sends its URL to the parent when it listens.
import { createServer } from "node:http";
import { serveParent } from "../load/serve-parent.ts";
import { answerMoved } from "./answer-moved.ts";

serveParent(createServer((_request, response) => answerMoved(response)));
