import type { KubeObject } from "../api/object.ts";
import { filesOf } from "../transfer/dump-file.ts";
import { ImaginedCluster, type ImaginedOptions } from "./imagined-cluster.ts";
import { type ApplyOptions, DEFAULT_APPLY, type Judgement, judge } from "./judge.ts";
import { type ManifestObject, readManifests } from "./manifests.ts";
import { printRule } from "./rules.ts";

/** What to apply, and to which state. */
export interface WhatIfOptions extends ImaginedOptions {
  /** Files and folders of manifests; `-` is standard input. */
  readonly files: readonly string[];
  readonly isRecursive?: boolean;
  /** Files and folders of CustomResourceDefinitions that are in the cluster besides those of its dump. */
  readonly crds?: readonly string[];
  readonly apply?: Partial<ApplyOptions>;
  /** Hears what could not be taken over from the dump. */
  readonly warn?: (text: string) => void;
}

/** Applies manifests to the state of a dump, in memory, and tells of each object what would become of it. */
export async function* whatIf(options: WhatIfOptions): AsyncGenerator<Judgement> {
  const { files, isRecursive = false, crds = [], warn = () => {} } = options;
  const apply: ApplyOptions = { ...DEFAULT_APPLY, ...options.apply };
  // What is misspelt is told at once.
  for (const file of [...files, ...crds]) await filesOf(file);
  await using cluster = await ImaginedCluster.open(options);
  for (const [kind, count] of cluster.summary.unknown) {
    warn(`${count} objects of ${kind} are left out: the CustomResourceDefinition is not in the state`);
  }
  for (const name of await cluster.webhooks()) warn(`${name} is left out: no webhook is called`);
  await prepare(cluster, cluster.summary.manifests);
  for await (const given of readManifests(crds, true)) await prepareOne(cluster, given);
  for await (const manifest of readManifests(files, isRecursive)) yield judge(cluster, manifest, apply);
}

/** Objects of the state that no server has stored yet. */
async function prepare(cluster: ImaginedCluster, objects: readonly KubeObject[]): Promise<void> {
  const isFirst = ({ kind }: KubeObject) => kind === "CustomResourceDefinition" || kind === "Namespace";
  const ordered = [...objects.filter(isFirst), ...objects.filter((object) => !isFirst(object))];
  for (const object of ordered) await prepareOne(cluster, { object, file: "the state", line: 0 });
}

async function prepareOne(cluster: ImaginedCluster, manifest: ManifestObject): Promise<void> {
  const { refusal } = await judge(cluster, manifest, { ...DEFAULT_APPLY, forceConflicts: true, validate: "Warn" });
  if (!refusal) return;
  const { object, file, line } = manifest;
  const place = line === 0 ? file : `${file}: line ${line}`;
  throw new Error(
    `${place}: ${object.kind} ${object.metadata.name} is refused by ${printRule(refusal.rule)}: ${refusal.message}`,
  );
}
