import path from "node:path";
import type { Command } from "commander";
import { EXPLAIN_PATH } from "../auth/explain/explain-right.ts";
import { impersonatedGroups } from "../auth/impersonation/identity-checks.ts";
import { JsonClient, refusalIn } from "../client/json-client.ts";
import { readKubeconfig } from "../client/kubeconfig-read.ts";
import { systemClock } from "../lib/clock.ts";
import { DEFAULT_CERT_DIR } from "../server/config.ts";
import type { Example, Io } from "./command.ts";
import { repeated } from "./flag-values.ts";

interface ExplainFlags {
  readonly as: string;
  readonly asGroup?: string[];
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly subresource?: string;
  readonly output?: string;
  readonly kubeconfig: string;
}

const LIMITS = { path: EXPLAIN_PATH, timeoutMs: 30_000, maxBytes: 4 * 1024 * 1024 };

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Which binding lets alice read Pods, or what she lacks", "binnacle auth explain --as alice get pods -n dev"],
];

/** Adds `explain`. */
export function configure(command: Command, { print }: Io): void {
  command
    .command("explain")
    .description("Tell by which binding, role and rule somebody may do something, or what the nearest rules lack")
    .argument("<verb>", "such as get, list, create")
    .argument("<what>", "TYPE[.GROUP][/NAME], or a path such as /metrics")
    .requiredOption("--as <user>", "who wants to do it")
    .option("--as-group <group>", "a group of the user; may be repeated", repeated)
    .option("-n, --namespace <namespace>", "where; default is meant without it")
    .option("-A, --all-namespaces", "in all namespaces")
    .option("--subresource <name>", "such as log or scale")
    .option("-o, --output <form>", "json")
    .option("--kubeconfig <file>", "how to reach the server, and as whom", path.join(DEFAULT_CERT_DIR, "kubeconfig"))
    .action((verb: string, what: string, flags: ExplainFlags) => run(verb, what, flags, print));
}

async function run(verb: string, what: string, flags: ExplainFlags, print: (text: string) => void): Promise<void> {
  using client = new JsonClient(await readKubeconfig(flags.kubeconfig), systemClock);
  const answer = await client.post(JSON.stringify({ spec: specOf(verb, what, flags) }), LIMITS);
  if (answer.status !== 200) throw new Error(refusalIn(answer));
  const { text, ...explanation } = JSON.parse(answer.body.toString());
  print(flags.output === "json" ? `${JSON.stringify(explanation, null, 2)}\n` : text);
}

function specOf(verb: string, what: string, flags: ExplainFlags) {
  const { as: user, asGroup = [], namespace, allNamespaces, subresource, output } = flags;
  if (output !== undefined && output !== "json") throw new Error("--output knows only json");
  const who = { user, groups: impersonatedGroups(user, asGroup) };
  if (what.startsWith("/")) return { ...who, nonResourceAttributes: { verb, path: what } };
  const [type = "", name] = what.split("/", 2);
  const dot = type.indexOf(".");
  const where = allNamespaces ? "" : namespace;
  return {
    ...who,
    resourceAttributes: {
      ...{ verb, resource: dot < 0 ? type : type.slice(0, dot) },
      ...(dot >= 0 && { group: type.slice(dot + 1) }),
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
      ...(where !== undefined && { namespace: where }),
    },
  };
}
