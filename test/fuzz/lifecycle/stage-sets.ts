import { readFile } from "node:fs/promises";
import path from "node:path";
import type { KubeObject } from "../../../src/base/api/object.ts";
import { decodeYaml } from "../../../src/data/encoding/yaml/yaml.ts";
import { kwokFolder } from "../../cluster/programs.ts";

/** Stages that KWOK comes with, as users combine them. */
export interface StageSet {
  readonly name: string;
  readonly files: readonly string[];
  /** Each Stage waits, so that the states of a Pod can be told apart, and something can happen in between. */
  readonly hasDelays: boolean;
  /** Labels make Pods fail. */
  readonly hasChaos: boolean;
}

const FAST = ["ready", "complete", "delete"].map((name) => `fast/pod-${name}`);
const GENERAL = ["create", "init-container-running", "init-container-completed", "ready", "complete", "delete"].map(
  (name) => `general/pod-${name}`,
);
const CHAOS = ["container-running-failed", "init-container-running-failed"].map((name) => `chaos/pod-${name}`);

/** All Stages of Pods that KWOK comes with. */
export const STAGE_SETS: readonly StageSet[] = [
  { name: "fast", files: FAST, hasDelays: false, hasChaos: false },
  { name: "general", files: GENERAL, hasDelays: true, hasChaos: false },
  { name: "fast-chaos", files: [...FAST, ...CHAOS], hasDelays: false, hasChaos: true },
  { name: "general-chaos", files: [...GENERAL, ...CHAOS], hasDelays: true, hasChaos: true },
];

/** The definition of Stages. */
export async function stageDefinition(): Promise<KubeObject> {
  return read(path.join(await kwokFolder(), "crd", "bases", "kwok.x-k8s.io_stages.yaml"));
}

/** The Stages of a set. */
export async function stagesOf({ files }: StageSet): Promise<KubeObject[]> {
  const folder = path.join(await kwokFolder(), "stage", "pod");
  return Promise.all(files.map((file) => read(path.join(folder, `${file}.yaml`))));
}

/** The Stages that let KWOK report a node as ready. */
export async function nodeStages(): Promise<KubeObject[]> {
  const folder = path.join(await kwokFolder(), "stage", "node");
  const files = ["fast/node-initialize", "heartbeat-with-lease/node-heartbeat-with-lease"];
  return Promise.all(files.map((file) => read(path.join(folder, `${file}.yaml`))));
}

async function read(file: string): Promise<KubeObject> {
  return decodeYaml(await readFile(file)).value as KubeObject;
}
