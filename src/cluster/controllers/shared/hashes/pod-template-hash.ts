import type { JsonObject } from "../../../../base/api/object.ts";
import { encodeHash, fnv32a } from "./fnv.ts";
import { readPodTemplateLayout } from "./go-layout.ts";
import { spewPrinter } from "./spew.ts";

let print: ((template: JsonObject) => string) | undefined;

/** A Pod template as Go prints the struct that a controller reads. The first call reads the layout of the struct. */
export function printPodTemplate(template: JsonObject): string {
  print ??= spewPrinter(readPodTemplateLayout(), "v1.PodTemplateSpec");
  return `(v1.PodTemplateSpec)${print(template)}`;
}

/** The label `pod-template-hash`, and `controller-revision-hash` of DaemonSets. Upstream: `controller.ComputeHash`. */
export function podTemplateHash(template: JsonObject, collisionCount?: number): string {
  const hash = fnv32a(Buffer.from(printPodTemplate(template)));
  if (collisionCount === undefined) return encodeHash(hash);
  // Compat: `ComputeHash` writes the uint32 into a buffer of eight bytes.
  const bytes = Buffer.alloc(8);
  bytes.writeInt32LE(collisionCount);
  return encodeHash(fnv32a(bytes, hash));
}

const MAX_NAME = 253;

/** Name of the ReplicaSet for a template of a Deployment. Upstream: `generateReplicaSetName`. */
export function replicaSetName(deployment: string, hash: string): string {
  return `${deployment.slice(0, MAX_NAME - 1 - hash.length)}-${hash}`;
}
