import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { addAll } from "../../base/util/add-all.ts";
import { type FoundObject, readObjects } from "../../data/encoding/documents/read-objects.ts";
import { isBolt } from "../../storage/bolt/bolt-meta.ts";
import { EtcdSnapshot } from "../../storage/bolt/etcd-snapshot.ts";
import type { Entry } from "../../storage/store.ts";
import { entriesOf } from "./stored-objects.ts";

/** An open dump of a cluster: objects as a server returns them, or entries of a store. */
export type DumpFile =
  | { readonly type: "objects"; readonly name: string; readonly objects: AsyncIterable<FoundObject> }
  | {
      readonly type: "entries";
      readonly name: string;
      readonly entries: AsyncIterable<Entry>;
      /** The newest revision of the store. */
      readonly revision: number;
    };

const MANIFEST = /\.(?:ya?ml|json)$/;
/** How many bytes of a file are read to detect its type. */
const BEGINNING_BYTES = 128;
const ENCRYPTED = Buffer.from("k8s:enc:");
const SQLITE = Buffer.from("SQLite format 3\0");

/** File name that means standard input. */
export const STANDARD_INPUT = "-";

/**
 * Opens a file of YAML or JSON, an etcd snapshot, a SQLite store, standard input, or a folder of YAML and JSON; `root`
 * is the prefix of all keys. Each dump is closed when the next one is requested. Throws an Error that names the file.
 */
export async function* openDump(file: string, root: string): AsyncGenerator<DumpFile> {
  for (const name of await filesOf(file)) {
    const form = name === STANDARD_INPUT ? "text" : await formOf(name);
    if (form === "snapshot") yield* openSnapshot(name, root);
    else if (form === "sqlite") yield* openFile(name, root);
    else yield { type: "objects", name: name === STANDARD_INPUT ? "standard input" : name, objects: objectsIn(name) };
  }
}

/** The objects of a file of YAML or JSON, or of standard input. */
export function objectsIn(file: string): AsyncGenerator<FoundObject> {
  return readObjects(file === STANDARD_INPUT ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 }));
}

/**
 * The file itself, or the files of a folder whose names end with .yaml, .yml or .json. Compat: `kubectl apply -f
 * FOLDER` uses the same files, in the same order.
 */
export async function filesOf(file: string, isRecursive = false): Promise<string[]> {
  if (file === STANDARD_INPUT) return [file];
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) throw new Error(`${file}: no such file or folder`);
  // /dev/zero has no end. A pipe may be what a shell makes of <(command).
  if (found.isCharacterDevice() || found.isBlockDevice()) throw new Error(`${file}: is a device, expected a file`);
  if (!found.isDirectory()) return [file];
  const entries = await readdir(file, { withFileTypes: true });
  const names: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = path.join(file, entry.name);
    if (entry.isDirectory()) {
      if (isRecursive) addAll(names, await filesOf(inner, true));
    } else if (MANIFEST.test(entry.name)) {
      // Reading a pipe or device in a folder of others might never end.
      const target = await stat(inner).catch(() => undefined);
      if (!target?.isFile()) throw new Error(`${inner}: is not a regular file`);
      names.push(inner);
    }
  }
  return names;
}

async function formOf(file: string): Promise<"snapshot" | "sqlite" | "text"> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    const beginning = buffer.subarray(0, bytesRead);
    if (isBolt(beginning)) return "snapshot";
    return beginning.subarray(0, SQLITE.length).equals(SQLITE) ? "sqlite" : "text";
  } finally {
    await handle.close();
  }
}

function* openSnapshot(name: string, root: string): Generator<DumpFile> {
  const snapshot = namingErrors(name, () => EtcdSnapshot.open(name, root));
  try {
    if (snapshot.size === 0) throw new Error(`${name}: no keys below ${root}; set --etcd-prefix to another prefix`);
    yield { type: "entries", name, entries: readable(snapshot), revision: snapshot.revision };
  } finally {
    snapshot.close();
  }
}

/** A store of `binnacle serve --store sqlite:FILE`, which no server may have open. */
async function* openFile(file: string, root: string): AsyncGenerator<DumpFile> {
  const { SqliteStore } = await import("../../storage/sqlite/store.ts");
  const store = await SqliteStore.open(file, { historyMs: Number.POSITIVE_INFINITY });
  try {
    const revision = await store.revision();
    yield { type: "entries", name: file, entries: entriesOf(store)(root), revision };
  } finally {
    await store.close();
  }
}

async function* readable(snapshot: EtcdSnapshot): AsyncGenerator<Entry> {
  for (const entry of snapshot.entries()) {
    if (ENCRYPTED.compare(entry.value, 0, ENCRYPTED.length) === 0) {
      throw new Error(
        `${entry.key} is encrypted at rest: dump the cluster with kubectl or binnacle export, which decrypt it`,
      );
    }
    yield entry;
  }
}

function namingErrors<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : "cannot be read"}`, { cause: error });
  }
}
