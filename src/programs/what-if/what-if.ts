import type { KubeObject } from "../../base/api/object.ts";
import { filesOf } from "../transfer/dump-file.ts";
import { ImaginedCluster, type ImaginedOptions } from "./imagined-cluster.ts";
import { type ApplyOptions, DEFAULT_APPLY, type Judgement, judge } from "./judge.ts";
import { type BuiltManifests, type ManifestObject, readBuilt, readManifests } from "./manifests.ts";
import { printRule } from "./rules.ts";

/** What to apply, and to which state. */
export interface WhatIfOptions extends ImaginedOptions {
  /** Files and folders of manifests; `-` is standard input. */
  readonly files: readonly string[];
  /** Manifests that a program has built. They are applied after the files. */
  readonly built?: readonly BuiltManifests[];
  readonly isRecursive?: boolean;
  /** Files and folders of CustomResourceDefinitions that the dump lacks. */
  readonly crds?: readonly string[];
  readonly apply?: Partial<ApplyOptions>;
  /** Receives warnings about what was not checked. */
  readonly warn?: (text: string) => void;
}

/** Applies manifests to the state of a dump in memory. Yields the result for each object. */
export async function* whatIf(options: WhatIfOptions): AsyncGenerator<Judgement> {
  const { files, built = [], isRecursive = false, crds = [], warn = () => {} } = options;
  const apply: ApplyOptions = { ...DEFAULT_APPLY, ...options.apply };
  // Reports missing files before the slow start.
  for (const file of [...files, ...crds]) await filesOf(file);
  await using cluster = await ImaginedCluster.open(options);
  for (const [kind, count] of cluster.summary.unknown) {
    warn(`skipped ${count} objects of ${kind}: the dump lacks their CustomResourceDefinition`);
  }
  await prepare(cluster, cluster.summary.manifests);
  for await (const given of readManifests(crds, true)) await prepareOne(cluster, given);
  for (const name of await cluster.webhooks()) warn(`webhook ${name} was not called; its verdict is unknown`);
  for await (const manifest of readManifests(files, isRecursive)) yield judge(cluster, manifest, apply);
  for await (const manifest of readBuilt(built)) yield judge(cluster, manifest, apply);
  for (const name of await cluster.unenforcedQuotas()) {
    warn(`ResourceQuota ${name} was not enforced: its usage is unknown, because resourcequota-controller does not run`);
  }
}

/** Kinds that the others need. */
const FIRST_KINDS = ["CustomResourceDefinition", "Namespace"];
/** Kinds that could change or deny the others, which exist in the cluster in any case. */
const LAST_KINDS = [
  "LimitRange",
  "ResourceQuota",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
];

/** Applies objects of the dump that no server has stored. */
async function prepare(cluster: ImaginedCluster, objects: readonly KubeObject[]): Promise<void> {
  const rank = ({ kind }: KubeObject) => (FIRST_KINDS.includes(kind) ? 0 : LAST_KINDS.includes(kind) ? 2 : 1);
  for (const object of objects.toSorted((one, other) => rank(one) - rank(other)))
    await prepareOne(cluster, { object, file: "--state", line: 0 });
}

async function prepareOne(cluster: ImaginedCluster, manifest: ManifestObject): Promise<void> {
  const { refusal } = await judge(cluster, manifest, { ...DEFAULT_APPLY, forceConflicts: true, validate: "Warn" });
  if (!refusal) return;
  const { object, file, line } = manifest;
  const place = line === 0 ? file : `${file}: line ${line}`;
  throw new Error(
    `${place}: ${object.kind} ${object.metadata.name} is denied by ${printRule(refusal.rule)}: ${refusal.message}`,
  );
}
