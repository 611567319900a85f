import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type CommandResult, type Kubectl, kubeconfigFor, kubectlFor } from "../support/kubectl.ts";
import { type Oracle, startOracle } from "../support/oracle.ts";
import { withoutMadeUp } from "./kubectl/made-up.ts";

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
    const found = { code: ours.code, stdout: withoutMadeUp(ours.stdout), stderr: withoutMadeUp(ours.stderr) };
    const wanted = { code: theirs.code, stdout: withoutMadeUp(theirs.stdout), stderr: withoutMadeUp(theirs.stderr) };
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
    await writeFile(file, JSON.stringify(kubeconfigFor(base, { user })), { mode: 0o600 });
    return file;
  };
  return [await write("oracle", oracle.base), await write("binnacle", binnacle.base)];
}
