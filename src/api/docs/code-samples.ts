// How a request is sent, in each language that /docs shows: as it stands, with nothing but curl, Node and Python. A test
// runs every one.

export type AnswerKind = "json" | "nothing" | "text" | "stream" | "file" | "redirect";

/** `path`: a template such as `/api/v1/links/{slug}`; `inPath`, `inQuery`: values by the names of parameters. */
export type SampleRequest = {
  method: string;
  baseUrl: string;
  path: string;
  inPath: Readonly<Record<string, string>>;
  inQuery: Readonly<Record<string, string>>;
  needsKey: boolean;
  body?: unknown;
  answer: AnswerKind;
};

export const LANGUAGES = [
  { id: "curl", name: "curl", fence: "sh" },
  { id: "javascript", name: "JavaScript", fence: "js" },
  { id: "python", name: "Python", fence: "python" },
] as const;
export type LanguageId = (typeof LANGUAGES)[number]["id"];

/** How each language reads the key from the environment: where a reader's own key goes. */
export const KEY_PLACES = /\$KEY|process\.env\.KEY|os\.environ\["KEY"\]/;

/** Widest line of a literal that stays on one line. */
const WIDTH = 60;

export function samplesOf(request: SampleRequest): Record<LanguageId, string> {
  return { curl: curl(request), javascript: javaScript(request), python: python(request) };
}

function curl({ method, needsKey, body, answer, ...request }: SampleRequest): string {
  const options = [
    ...(method === "GET" ? [] : [method === "HEAD" ? "-I" : `-X ${method}`]),
    ...(answer === "nothing" || (answer === "redirect" && method === "GET") ? ["-i"] : []),
    ...(answer === "stream" ? ["-N"] : []),
    ...(answer === "file" ? ["-o qr.png"] : []),
  ];
  const address = addressOf(request);
  const parts = [
    ["curl", ...options, address.includes("?") ? `'${address}'` : address].join(" "),
    ...(needsKey ? ['-H "X-API-Key: $KEY"'] : []),
    ...(body === undefined
      ? []
      : [
          `-H 'Content-Type: application/json' -d '${JSON.stringify(body, undefined, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ];
  return parts.join(" \\\n  ");
}

/** By the client, which knows each address that answers JSON; else by `fetch`. */
function javaScript(request: SampleRequest): string {
  const { method, baseUrl, path, inPath, inQuery, needsKey, body, answer } = request;
  const params = {
    ...(Object.keys(inPath).length > 0 && { path: inPath }),
    ...(Object.keys(inQuery).length > 0 && { query: inQuery }),
  };
  const init = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(body !== undefined && { body }),
  };
  const client = `const client = linkledger({ baseUrl: ${JSON.stringify(baseUrl)}, key: process.env.KEY });\n`;
  if (needsKey && path === "/api/v1/events/stream")
    return `import { linkledger } from "@linkledger/client";\n\n${client}for await (const event of client.events()) console.log(event);`;
  if (needsKey && (answer === "json" || answer === "nothing")) {
    const argument = Object.keys(init).length > 0 ? `, ${literal(init, "javascript")}` : "";
    if (answer === "nothing")
      return `import { linkledger } from "@linkledger/client";

${client}const { response } = await client.${method}(${JSON.stringify(path)}${argument});
console.log(response.status);`;
    return `import { dataOf, linkledger } from "@linkledger/client";

${client}const answer = await dataOf(client.${method}(${JSON.stringify(path)}${argument}));
console.log(answer);`;
  }
  const options = {
    ...(method !== "GET" && { method }),
    ...(answer === "redirect" && { redirect: "manual" }),
  };
  const members = [
    ...Object.entries(options).map(([name, value]) => `${name}: "${value}"`),
    ...(needsKey ? ['headers: { "X-API-Key": process.env.KEY }'] : []),
  ];
  const argument = members.length > 0 ? `, { ${members.join(", ")} }` : "";
  const head = answer === "file" ? 'import { writeFile } from "node:fs/promises";\n\n' : "";
  const reading = {
    file: 'await writeFile("qr.png", Buffer.from(await answer.arrayBuffer()));',
    redirect: 'console.log(answer.status, answer.headers.get("location"));',
    stream: "for await (const text of answer.body.pipeThrough(new TextDecoderStream())) console.log(text);",
    text: "console.log(await answer.text());",
    json: "console.log(await answer.json());",
    nothing: "console.log(answer.status);",
  }[answer];
  return `${head}const answer = await fetch(${JSON.stringify(addressOf(request))}${argument});\n${reading}`;
}

/** By the standard library alone. */
function python(request: SampleRequest): string {
  const { method, baseUrl, needsKey, body, answer } = request;
  const address = addressOf(request);
  if (answer === "redirect") {
    const { protocol, host } = new URL(baseUrl);
    const connection = protocol === "https:" ? "HTTPSConnection" : "HTTPConnection";
    return `import http.client

connection = http.client.${connection}("${host}")
connection.request("${method}", "${address.slice(baseUrl.length)}")
answer = connection.getresponse()
print(answer.status, answer.headers["Location"])`;
  }
  if (answer === "file") return `import urllib.request\n\nurllib.request.urlretrieve("${address}", "qr.png")`;
  const headers = [
    ...(needsKey ? ['"X-API-Key": os.environ["KEY"]'] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const parts = [
    `"${address}"`,
    ...(method === "GET" ? [] : [`method="${method}"`]),
    `headers={${headers.join(", ")}}`,
    ...(body === undefined ? [] : [`data=json.dumps(${literal(body, "python", "    ")}).encode()`]),
  ];
  const reading = {
    json: "print(json.load(answer))",
    nothing: "print(answer.status)",
    text: "print(answer.read().decode())",
    stream: 'for line in answer:\n        print(line.decode(), end="", flush=True)',
  }[answer];
  const modules = [
    ...(reading.includes("json") || body !== undefined ? ["json"] : []),
    "os",
    "urllib.request",
  ];
  return `import ${modules.join(", ")}

request = urllib.request.Request(
    ${parts.join(",\n    ")},
)
with urllib.request.urlopen(request) as answer:
    ${reading}`;
}

function addressOf({
  baseUrl,
  path,
  inPath,
  inQuery,
}: Omit<SampleRequest, "method" | "needsKey" | "answer">) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? name));
  const query = new URLSearchParams(inQuery).toString();
  return `${baseUrl}${filled}${query === "" ? "" : `?${query}`}`;
}

const CONSTANTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  javascript: {},
  python: { true: "True", false: "False", null: "None" },
};

/** JSON as a value of the language, on one line where it fits. */
function literal(value: unknown, language: "javascript" | "python", indent = ""): string {
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    return CONSTANTS[language]?.[text] ?? text;
  }
  const step = language === "python" ? "    " : "  ";
  const inner = indent + step;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, language, inner))
    : Object.entries(value).map(([name, member]) => {
        const isBare = language === "javascript" && /^[a-z_]\w*$/i.test(name);
        return `${isBare ? name : JSON.stringify(name)}: ${literal(member, language, inner)}`;
      });
  const space = open === "{" && language === "javascript" ? " " : "";
  const line = `${open}${space}${parts.join(", ")}${space}${close}`;
  if (parts.length === 0) return `${open}${close}`;
  if (!line.includes("\n") && indent.length + line.length <= WIDTH) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${close}`;
}
