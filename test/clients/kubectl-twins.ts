import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type CommandResult, type Kubectl, kubectlFor } from "../support/kubectl.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";

/** The same command of kubectl, or of another program, to the real kube-apiserver and to Binnacle. */
export class KubectlTwins {
  /** Where files for kubectl may be written; it goes with the twins. */
  readonly directory: string;
  readonly #oracle: Oracle;
  readonly #binnacle: RunningBinnacle;
  readonly #kubeconfigs: readonly [theirs: string, ours: string];
  readonly #kubectls: readonly [theirs: Kubectl, ours: Kubectl];

  private constructor(
    oracle: Oracle,
    binnacle: RunningBinnacle,
    kubeconfigs: readonly [theirs: string, ours: string],
    programFor: (kubeconfig: string) => Kubectl = kubectlFor,
  ) {
    this.directory = binnacle.directory;
    this.#oracle = oracle;
    this.#binnacle = binnacle;
    this.#kubeconfigs = kubeconfigs;
    this.#kubectls = [programFor(kubeconfigs[0]), programFor(kubeconfigs[1])];
  }

  /** Starts both, with further flags for each. */
  static async start(flags: readonly string[] = []): Promise<KubectlTwins> {
    const binnacle = await startBinnacle({ flags: ["--custom-objects=defined", ...flags] });
    try {
      return await KubectlTwins.of(await startOracle({ flags }), binnacle);
    } catch (error) {
      await binnacle.kill();
      throw error;
    }
  }

  /** The administrator of two servers that run already. */
  static async of(oracle: Oracle, binnacle: RunningBinnacle): Promise<KubectlTwins> {
    return new KubectlTwins(oracle, binnacle, await writeKubeconfigs(oracle, binnacle, ""));
  }

  /** The same user of both, by other credentials than the administrator's token. */
  async as(name: string, user: Readonly<Record<string, unknown>>): Promise<KubectlTwins> {
    const files = await writeKubeconfigs(this.#oracle, this.#binnacle, `-${name}`, user);
    return new KubectlTwins(this.#oracle, this.#binnacle, files);
  }

  /** The same user, whose commands are those of another program. */
  using(programFor: (kubeconfig: string) => Kubectl): KubectlTwins {
    return new KubectlTwins(this.#oracle, this.#binnacle, this.#kubeconfigs, programFor);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#oracle.kill(), this.#binnacle.kill()]);
  }

  /** What a command writes with each, where that cannot be the same. */
  async outputs(args: readonly string[]): Promise<[theirs: string, ours: string]> {
    const [theirs, ours] = await this.#runBoth(args, []);
    return [theirs.stdout, ours.stdout];
  }

  /**
   * Runs a command on both, which must write the same and end alike; ages, addresses and the like aside. An input that
   * names what a server made up is given for each.
   */
  async same(
    args: readonly string[],
    inputs: readonly [theirs: string, ours: string] | [] = [],
  ): Promise<CommandResult> {
    const [theirs, ours] = await this.#runBoth(args, inputs);
    const found = { code: ours.code, stdout: normalise(ours.stdout), stderr: normalise(ours.stderr) };
    const wanted = { code: theirs.code, stdout: normalise(theirs.stdout), stderr: normalise(theirs.stderr) };
    assert.deepEqual(found, wanted, `kubectl ${args.join(" ")}\nwanted ${show(wanted)}\nfound ${show(found)}`);
    return ours;
  }

  #runBoth(args: readonly string[], [theirs, ours]: readonly string[]): Promise<[CommandResult, CommandResult]> {
    const [oracle, binnacle] = this.#kubectls;
    return Promise.all([oracle(args, { input: theirs }), binnacle(args, { input: ours })]);
  }
}

const show = ({ code, stdout, stderr }: CommandResult) => `(code ${code})\n${stdout}${stderr}`;

/** A kubeconfig for each server, in Binnacle's folder. */
async function writeKubeconfigs(
  oracle: Oracle,
  binnacle: RunningBinnacle,
  suffix: string,
  user?: Readonly<Record<string, unknown>>,
): Promise<readonly [theirs: string, ours: string]> {
  const write = async (server: string, base: string) => {
    const file = path.join(binnacle.directory, `${server}${suffix}.kubeconfig`);
    await writeFile(file, JSON.stringify(kubeconfigFor(base, user)), { mode: 0o600 });
    return file;
  };
  return [await write("oracle", oracle.base), await write("binnacle", binnacle.base)];
}

/** The same user at either server. */
function kubeconfigFor(server: string, user: Readonly<Record<string, unknown>> = { token: tokens.admin }) {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "twin",
    clusters: [{ name: "twin", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "twin", user }],
    contexts: [{ name: "twin", context: { cluster: "twin", user: "twin" } }],
  };
}

/** What each server makes up for itself, and the width of columns that follows from it. */
const MADE_UP: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UID"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "TIME"],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "TIME"],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b/g, "TIME"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4} UTC/g, "TIME"],
  [/("?resourceVersion"?: ?)"\d+"/gi, "$1VERSION"],
  [/(Resource Version: +)\d+/g, "$1VERSION"],
  [/\bmodifiedAt=\d+/g, "modifiedAt=TIME"],
  // The head of a line of klog.
  [/^[EIW]\d{4} \S+ +\d+ (?=\w+\.go:)/gm, "LOG "],
  [/https:\/\/127\.0\.0\.1:\d+/g, "SERVER"],
  [/\b10\.96\.\d+\.\d+\b/g, "ADDRESS"],
  [/\b3[0-2]\d{3}\b/g, "NODEPORT"],
  [/\bkube-api-access-[a-z0-9]{5}\b/g, "kube-api-access-SUFFIX"],
  [/-{4,}/g, "----"],
  [/ {2,}/g, "  "],
  [/ +$/gm, ""],
  // The real server repairs a Service, and tells of it, when it looks at one that it is just about to finish.
  [/^.*\bClusterIPNotAllocated\b.*\n/gm, ""],
  [/^Events:\n +Type .*\n +---- .*\n(?! )/gm, "Events:  <none>\n"],
];

/** Ages stand in tables and descriptions; in an object such words are amounts. */
const AGES = [/\b\d+s\b|<invalid>/g, "AGE"] as const;

function normalise(text: string): string {
  const patterns = text.startsWith("apiVersion:") ? MADE_UP : [AGES, ...MADE_UP];
  return patterns.reduce((changed, [pattern, name]) => changed.replace(pattern, name), text);
}
