import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject, KubeObject } from "../../src/base/api/object.ts";
import { JsonClient } from "../../src/base/net/json-client.ts";
import { systemClock } from "../../src/base/util/clock.ts";
import { printYaml } from "../../src/data/encoding/yaml/yaml-print.ts";
import { readKubeconfig } from "../../src/data/kubeconfig/kubeconfig-read.ts";
import { printObject } from "../../src/programs/transfer/print-objects.ts";
import { serverObjects } from "../../src/programs/transfer/server-objects.ts";
import type { ApplyOptions } from "../../src/programs/what-if/judge.ts";
import { whatIf } from "../../src/programs/what-if/what-if.ts";
import type { Difference } from "../fuzz/twins.ts";
import type { Answer } from "../support/client.ts";
import { SampleCluster } from "./cluster.ts";
import { compare } from "./compare.ts";
import { LATE_DEFINITION } from "./rules.ts";
import { type Sample, samples } from "./samples.ts";

/** What manifests are judged by, and how it went. */
export interface Comparison {
  readonly what: string;
  readonly compared: number;
  readonly refused: number;
  readonly differences: readonly Difference[];
  readonly seconds: number;
}

/** The answers of the real server to manifests, beside the files that what-if reads. */
export class Proof {
  readonly folder: string;
  readonly #cluster: SampleCluster;
  readonly #samples: readonly Sample[];

  private constructor(folder: string, cluster: SampleCluster, given: readonly Sample[]) {
    this.folder = folder;
    this.#cluster = cluster;
    this.#samples = given;
  }

  /** Starts a cluster with the objects of so many samples. */
  static async start(count: number): Promise<Proof> {
    const given = samples(count);
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-what-if-proof-"));
    return new Proof(folder, await SampleCluster.start(given), given);
  }

  async stop(): Promise<void> {
    await this.#cluster.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The state in all three forms. */
  async dumps(): Promise<Readonly<Record<"kubectl" | "snapshot" | "export", string>>> {
    const { folder } = this;
    return {
      kubectl: await this.#cluster.dump(folder),
      snapshot: await this.#cluster.snapshot(folder),
      export: await this.#export(),
    };
  }

  /** Compares with `dryRun=All`: each manifest is judged by the dump alone. */
  async isolated(dumps: Readonly<Record<string, string>>): Promise<Comparison[]> {
    const answers = await this.#dryRun(this.#samples);
    const manifests = await this.#write(this.#samples.map(({ manifest }) => manifest));
    const all: Comparison[] = [];
    for (const [what, dump] of Object.entries(dumps)) {
      all.push(await this.#compare(what, dump, manifests, this.#samples, answers, { isIsolated: true }));
    }
    return all;
  }

  /** The same as a user with few rights. */
  async asAlice(dump: string): Promise<Comparison> {
    const some = this.#samples.slice(0, 60);
    const answers = await this.#dryRun(some, "alice");
    const manifests = await this.#write(some.map(({ manifest }) => manifest));
    const as = { user: "alice", groups: [] };
    return this.#compare("as alice", dump, manifests, some, answers, { isIsolated: true, as });
  }

  /** Compares with manifests that are really applied, one after the other, and build on each other. */
  async inSequence(dump: string): Promise<Comparison> {
    const metadata = (name: string): JsonObject => ({ name, namespace: "later", labels: { app: "shop" } });
    const gadget = (name: string, spec: JsonObject): JsonObject => ({
      apiVersion: "shop.example/v1",
      kind: "Gadget",
      metadata: metadata(name),
      spec,
    });
    const first = [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } },
      LATE_DEFINITION,
      gadget("one", {}),
      gadget("two", { size: "large" }),
      { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("settings"), data: { a: "1" } },
      gadget("one", { size: 8 }),
    ].map(
      (manifest, index): Sample => ({
        ...(index === 5 && { live: manifest }),
        manifest,
        madeBy: "kubectl",
        what: "new",
      }),
    );
    const all = [...first, ...this.#samples];
    const answers: Answer[] = [];
    for (const { manifest } of all) {
      answers.push(await this.#cluster.apply(manifest));
      if (manifest === LATE_DEFINITION) await this.#cluster.establish(manifest);
    }
    const manifests = await this.#write(all.map(({ manifest }) => manifest));
    return this.#compare("in sequence", dump, manifests, all, answers, {});
  }

  async #dryRun(given: readonly Sample[], as?: string): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const { manifest } of given) {
      answers.push(await this.#cluster.apply(manifest, { dryRun: true, ...(as !== undefined && { as }) }));
    }
    return answers;
  }

  async #compare(
    what: string,
    dump: string,
    manifests: string,
    given: readonly Sample[],
    answers: readonly Answer[],
    apply: Partial<ApplyOptions>,
  ): Promise<Comparison> {
    const differences: Difference[] = [];
    let compared = 0;
    let refused = 0;
    const startMs = performance.now();
    const judged = whatIf({
      state: [dump],
      files: [manifests],
      apply: { ...apply, showManagedFields: true },
      // Nothing but kube-apiserver runs in the cluster.
      config: { controllers: "none" },
    });
    for await (const judgement of judged) {
      const { live, what: tried } = given[compared] as Sample;
      const found = compare(answers[compared] as Answer, judgement, live !== undefined);
      if (found) differences.push({ ...found, at: `${found.at} (${tried})` });
      if (judgement.refusal) refused++;
      compared++;
    }
    return { what, compared, refused, differences, seconds: (performance.now() - startMs) / 1000 };
  }

  async #write(manifests: readonly JsonObject[]): Promise<string> {
    const file = path.join(this.folder, `manifests-${manifests.length}.yaml`);
    await writeFile(file, manifests.map((manifest) => `---\n${printYaml(manifest)}`).join(""));
    return file;
  }

  async #export(): Promise<string> {
    const file = path.join(this.folder, "export.yaml");
    const out = createWriteStream(file);
    const client = new JsonClient(await readKubeconfig(await this.#cluster.kubeconfig(this.folder)), systemClock);
    try {
      for await (const object of serverObjects(client)) out.write(printObject(object as KubeObject, "yaml"));
    } finally {
      client.close();
    }
    await new Promise<void>((resolve) => void out.end(resolve));
    return file;
  }
}
