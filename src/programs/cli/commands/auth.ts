import type { Command } from "commander";
import { impersonatedGroups } from "../../../access/authentication/impersonation/identity-checks.ts";
import { EXPLAIN_PATH } from "../../../access/authorization/explain/explain-right.ts";
import { JsonClient, refusalIn } from "../../../base/net/json-client.ts";
import { systemClock } from "../../../base/util/clock.ts";
import type { Example, Io } from "../command.ts";
import { repeated } from "../flags/declared-flags.ts";
import { addKubeconfigFlag, readServerAccess } from "../server-access.ts";

interface ExplainFlags {
  readonly as: string;
  readonly asGroup?: string[];
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly subresource?: string;
  readonly output?: string;
  readonly kubeconfig?: string;
}

const LIMITS = { path: EXPLAIN_PATH, timeoutMs: 30_000, maxBytes: 4 * 1024 * 1024 };

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Explain whether alice may read Pods in namespace dev", "binnacle auth explain --as alice get pods -n dev"],
];

/** Adds `explain`. */
export function configure(command: Command, io: Io): void {
  const explain = command
    .command("explain")
    .helpOption("-h, --help", "show help")
    .description("Show the binding, role and rule that allow a request, or the closest rules that do not match")
    .argument("<verb>", "verb such as get, list or create")
    .argument("<what>", "resource as TYPE[.GROUP][/NAME], or a path such as /metrics")
    .requiredOption("--as <user>", "user name")
    .option("--as-group <group>", "group of the user; may be repeated", repeated)
    .option("-n, --namespace <namespace>", "namespace of the resource (default: default)")
    .option("-A, --all-namespaces", "all namespaces")
    .option("--subresource <name>", "subresource such as log or scale")
    .option("-o, --output <format>", "output format: json");
  addKubeconfigFlag(explain).action((verb: string, what: string, flags: ExplainFlags) => run(verb, what, flags, io));
}

async function run(verb: string, what: string, flags: ExplainFlags, io: Io): Promise<void> {
  using client = new JsonClient(await readServerAccess(flags.kubeconfig, io), systemClock);
  const answer = await client.post(JSON.stringify({ spec: specOf(verb, what, flags) }), LIMITS);
  if (answer.status !== 200) throw new Error(refusalIn(answer));
  const { text, ...explanation } = JSON.parse(answer.body.toString());
  io.print(flags.output === "json" ? `${JSON.stringify(explanation, null, 2)}\n` : text);
}

function specOf(verb: string, what: string, flags: ExplainFlags) {
  const { as: user, asGroup = [], namespace, allNamespaces, subresource, output } = flags;
  if (output !== undefined && output !== "json") throw new Error("--output: expected json");
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
