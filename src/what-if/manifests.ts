import type { KubeObject } from "../api/object.ts";
import { filesOf, objectsIn, STANDARD_INPUT } from "../transfer/dump-file.ts";

/** An object of a manifest, and where it stands. */
export interface ManifestObject {
  readonly object: KubeObject;
  readonly file: string;
  readonly line: number;
}

/**
 * The objects of manifests in the order in which `kubectl apply -f` would apply them. Throws an Error that names the file
 * and the line.
 */
export async function* readManifests(files: readonly string[], isRecursive: boolean): AsyncGenerator<ManifestObject> {
  for (const given of files) {
    for (const file of await filesOf(given, isRecursive)) {
      const name = file === STANDARD_INPUT ? "standard input" : file;
      try {
        for await (const found of objectsIn(file)) yield { ...found, file: name };
      } catch (error) {
        throw new Error(`${name}: ${error instanceof Error ? error.message : "cannot be read"}`, { cause: error });
      }
    }
  }
}
