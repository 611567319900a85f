import { type Command, Option } from "commander";
import { EXPLAIN_ADMISSION_PATH } from "../../../access/admission/explain/explain-endpoint.ts";
import { isObject, type JsonObject } from "../../../base/api/object.ts";
import { JsonClient, refusalIn } from "../../../base/net/json-client.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { repeated } from "../flags/declared-flags.ts";
import { readValues } from "../manifests.ts";
import { addKubeconfigFlag, readServerAccess } from "../server-access.ts";

interface Flags {
  readonly filename: string[];
  readonly as?: string;
  readonly asGroup?: string[];
  readonly namespace?: string;
  readonly operation: string;
  readonly output: "text" | "json";
  readonly kubeconfig?: string;
  readonly server?: string;
}

const LIMITS = { path: EXPLAIN_ADMISSION_PATH, timeoutMs: 60_000, maxBytes: 64 * 1024 * 1024 };

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Explain what happens if alice creates this object", "binnacle explain-admission -f pod.yaml --as alice"],
  ["Explain an apply, and print JSON", "binnacle explain-admission -f pod.yaml --as alice --operation apply -o json"],
];

/** Adds the flags. */
export function configure(command: Command, io: Io): void {
  command
    .addOption(
      new Option("-f, --filename <file>", "objects in YAML or JSON; - for standard input; may be repeated")
        .argParser(repeated)
        .makeOptionMandatory(),
    )
    .option("--as <user>", "user who writes (default: the user of the kubeconfig)")
    .addOption(new Option("--as-group <group>", "group of the user; may be repeated").argParser(repeated))
    .option("-n, --namespace <namespace>", "namespace (default: that of the object, or default)")
    .addOption(
      new Option("--operation <operation>", "type of the write")
        .choices(["create", "update", "apply", "delete"])
        .default("create"),
    )
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"));
  addKubeconfigFlag(command)
    .option("--server <url>", "URL of the server (default: that of the kubeconfig)")
    .action((flags: Flags) => run(flags, io));
}

async function run(flags: Flags, io: Io): Promise<void> {
  const access = await readServerAccess(flags.kubeconfig, io);
  const server = flags.server === undefined ? access.server : new URL(flags.server);
  using client = new JsonClient({ ...access, server }, systemClock);
  const explanations: JsonObject[] = [];
  const objects = await readValues(flags.filename, io.cwd, "--filename");
  if (objects.length === 0) throw new Failure("no objects found in the files");
  for (const { value: object, source } of objects) {
    if (!isObject(object)) throw new Failure(`--filename ${source}: not an object`);
    const { as: user, asGroup: groups, namespace, operation } = flags;
    const answer = await client.post(JSON.stringify({ object, operation, user, groups, namespace }), LIMITS);
    if (answer.status !== 200) throw new Error(refusalIn(answer));
    explanations.push(JSON.parse(answer.body.toString()));
  }
  io.print(flags.output === "json" ? asJson(explanations) : explanations.map(({ text }) => text).join("\n"));
}

function asJson(explanations: readonly JsonObject[]): string {
  const plain = explanations.map(({ text: _, ...explanation }) => explanation);
  return `${JSON.stringify(plain.length === 1 ? plain[0] : plain, null, 2)}\n`;
}
