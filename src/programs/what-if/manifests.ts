import type { KubeObject } from "../../base/api/object.ts";
import { type FoundObject, readObjects } from "../../data/encoding/documents/read-objects.ts";
import { filesOf, objectsIn, STANDARD_INPUT } from "../transfer/dump-file.ts";

/** An object of a manifest with its file and line. */
export interface ManifestObject {
  readonly object: KubeObject;
  readonly file: string;
  readonly line: number;
}

/** Manifests that a program has built, such as kustomize. */
export interface BuiltManifests {
  /** Shown as the file. */
  readonly name: string;
  readonly text: Uint8Array;
}

/** Reads the objects of manifests in the order of `kubectl apply -f`. Throws an Error with the file and the line. */
export async function* readManifests(files: readonly string[], isRecursive: boolean): AsyncGenerator<ManifestObject> {
  for (const given of files) {
    for (const file of await filesOf(given, isRecursive)) {
      yield* named(file === STANDARD_INPUT ? "standard input" : file, objectsIn(file));
    }
  }
}

/** The same for built manifests. */
export async function* readBuilt(built: readonly BuiltManifests[]): AsyncGenerator<ManifestObject> {
  for (const { name, text } of built) yield* named(name, readObjects(piece(text)));
}

async function* piece(text: Uint8Array): AsyncGenerator<Uint8Array> {
  yield text;
}

async function* named(file: string, objects: AsyncIterable<FoundObject>): AsyncGenerator<ManifestObject> {
  try {
    for await (const found of objects) yield { ...found, file };
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : "unreadable"}`, { cause: error });
  }
}
