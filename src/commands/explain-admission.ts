import path from "node:path";
import { text as readAll } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { EXPLAIN_ADMISSION_PATH } from "../admission/explain/explain-endpoint.ts";
import { isObject, type JsonObject } from "../api/object.ts";
import { JsonClient, refusalIn } from "../client/json-client.ts";
import { readKubeconfig } from "../client/kubeconfig-read.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";
import { systemClock } from "../lib/clock.ts";
import { splitDocuments } from "../server/admission/manifest-documents.ts";
import { DEFAULT_CERT_DIR } from "../server/config.ts";
import { readLimited } from "../server/watched-file.ts";
import type { Example, Io } from "./command.ts";
import { repeated } from "./flag-values.ts";

interface Flags {
  readonly filename: string[];
  readonly as?: string;
  readonly asGroup: string[];
  readonly namespace?: string;
  readonly operation: string;
  readonly output: "text" | "json";
  readonly kubeconfig: string;
  readonly server?: string;
}

const LIMITS = { path: EXPLAIN_ADMISSION_PATH, timeoutMs: 60_000, maxBytes: 64 * 1024 * 1024 };

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Who changes or refuses this object if alice creates it", "binnacle explain-admission -f pod.yaml --as alice"],
  [
    "The same for what is applied, as JSON",
    "binnacle explain-admission -f pod.yaml --as alice --operation apply -o json",
  ],
];

/** Adds the flags. */
export function configure(command: Command, { print }: Io): void {
  command
    .description("Tell what admission would do with a write: who changes which field, who refuses it, and by what")
    .addOption(
      new Option("-f, --filename <file>", "objects in YAML or JSON, - for standard input; may be repeated")
        .argParser(repeated)
        .default([], "none")
        .makeOptionMandatory(),
    )
    .option("--as <user>", "who writes; without it, the user of the kubeconfig")
    .addOption(
      new Option("--as-group <group>", "a group of the user; may be repeated").argParser(repeated).default([], "none"),
    )
    .option("-n, --namespace <namespace>", "where; else where the object says, or default")
    .addOption(
      new Option("--operation <operation>", "how the object is written")
        .choices(["create", "update", "apply", "delete"])
        .default("create"),
    )
    .addOption(new Option("-o, --output <form>", "how it is told").choices(["text", "json"]).default("text"))
    .option("--kubeconfig <file>", "how to reach the server, and as whom", path.join(DEFAULT_CERT_DIR, "kubeconfig"))
    .option("--server <url>", "another address of the server than that of the kubeconfig")
    .action((flags: Flags) => run(flags, print));
}

async function run(flags: Flags, print: (text: string) => void): Promise<void> {
  const access = await readKubeconfig(flags.kubeconfig);
  const server = flags.server === undefined ? access.server : new URL(flags.server);
  using client = new JsonClient({ ...access, server }, systemClock);
  const explanations: JsonObject[] = [];
  for (const object of await readObjects(flags.filename)) {
    const { as: user, asGroup: groups, namespace, operation } = flags;
    const answer = await client.post(JSON.stringify({ object, operation, user, groups, namespace }), LIMITS);
    if (answer.status !== 200) throw new Error(refusalIn(answer));
    explanations.push(JSON.parse(answer.body.toString()));
  }
  print(flags.output === "json" ? asJson(explanations) : explanations.map(({ text }) => text).join("\n"));
}

function asJson(explanations: readonly JsonObject[]): string {
  const plain = explanations.map(({ text: _, ...explanation }) => explanation);
  return `${JSON.stringify(plain.length === 1 ? plain[0] : plain, null, 2)}\n`;
}

async function readObjects(files: readonly string[]): Promise<JsonObject[]> {
  const objects: JsonObject[] = [];
  for (const file of files) {
    const text = file === "-" ? await readAll(process.stdin) : await readLimited(file);
    for (const document of splitDocuments(text)) {
      const { value } = decodeYaml(Buffer.from(document));
      if (!isObject(value)) throw new Error(`${file} is no object`);
      objects.push(value);
    }
  }
  if (objects.length === 0) throw new Error("the files have no object");
  return objects;
}
