import { mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { writeWhole } from "../../../base/files/private-file.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import { printYaml } from "../../../data/encoding/yaml/yaml-print.ts";
import { Failure, type Io } from "../command.ts";
import type { MergedContext } from "./data-folder.ts";

const LISTS = ["clusters", "users", "contexts"] as const;
const MAX_BYTES = 4 * 1024 * 1024;
const LOCK_PATIENCE_MS = 3000;
const LOOK_EVERY_MS = 50;

/** The file that kubectl writes to: the first of KUBECONFIG, or `~/.kube/config`. */
export function usualKubeconfig(io: Pick<Io, "env">): string {
  return kubeconfigVariable(io)[0] ?? homeKubeconfig(io);
}

/** The files of KUBECONFIG. */
export function kubeconfigVariable({ env }: Pick<Io, "env">): string[] {
  return (env.KUBECONFIG ?? "").split(path.delimiter).filter((file) => file !== "");
}

/** `~/.kube/config`. */
export function homeKubeconfig({ env }: Pick<Io, "env">): string {
  return path.join(env.HOME ?? homedir(), ".kube", "config");
}

/** Adds the cluster, user and context of one kubeconfig to another under a name, and makes it the current context. */
export function mergeInto(known: JsonObject, own: JsonObject, name: string): JsonObject {
  const inner: Readonly<Record<(typeof LISTS)[number], Json>> = {
    clusters: { name, cluster: only(own.clusters, "cluster") },
    users: { name, user: only(own.users, "user") },
    contexts: { name, context: { cluster: name, user: name } },
  };
  const merged: JsonObject = { apiVersion: "v1", kind: "Config", ...known };
  for (const list of LISTS) merged[list] = [...without(known[list], name), inner[list]];
  return { ...merged, "current-context": name };
}

/** Removes them. If ours was the current context, `previous` becomes it, if it exists. */
export function removeFrom(known: JsonObject, name: string, previous: string | undefined): JsonObject {
  const left: JsonObject = { ...known };
  for (const list of LISTS) if (known[list] !== undefined) left[list] = without(known[list], name);
  if (known["current-context"] === name) left["current-context"] = isContext(left, previous) ? previous : "";
  return left;
}

/** Returns whether a kubeconfig has a user of this name with the credentials of our own kubeconfig. */
export async function isMerged(ownFile: string, name: string): Promise<(known: JsonObject) => boolean> {
  const own = only((await readKnown(ownFile)).users, "user");
  const hasCredentials = isObject(own) && Object.keys(own).length > 0;
  return (known) => {
    const users = Array.isArray(known.users) ? known.users.filter(isObject) : [];
    return hasCredentials && users.some((one) => one.name === name && isDeepStrictEqual(one.user, own));
  };
}

/** Keeps them, but makes `previous` the current context if ours still is. */
export function stepBack(known: JsonObject, name: string, previous: string | undefined): JsonObject {
  const isOurs = known["current-context"] === name && previous !== name;
  return isOurs && isContext(known, previous) ? { ...known, "current-context": previous } : known;
}

const isContext = (known: JsonObject, name: string | undefined): name is string =>
  name !== undefined &&
  Array.isArray(known.contexts) &&
  known.contexts.some((one) => isObject(one) && one.name === name);

function only(list: Json | undefined, member: string): Json {
  const [first] = Array.isArray(list) ? list : [];
  return (isObject(first) ? first[member] : undefined) ?? {};
}

function without(list: Json | undefined, name: string): Json[] {
  return Array.isArray(list) ? list.filter((one) => !(isObject(one) && one.name === name)) : [];
}

/**
 * Changes a kubeconfig atomically, under kubectl's lock. Keeps unknown members. If the file is not a kubeconfig, throws a Failure
 * and does not change it.
 */
export async function changeKubeconfig(file: string, change: (known: JsonObject) => JsonObject): Promise<JsonObject> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // Keeps a symbolic link.
  const place = await realpath(file).catch(() => file);
  const lock = `${place}.lock`;
  await takeLock(lock, file);
  try {
    const before = await readKnown(place);
    const after = change(before);
    if (after !== before) {
      const mode = await stat(place).then(
        (found) => found.mode & 0o777,
        () => 0o600,
      );
      await writeWhole(place, printYaml(after), mode);
    }
    return before;
  } finally {
    await rm(lock, { force: true });
  }
}

/** Merges our kubeconfig into another file. */
export async function mergeKubeconfig(file: string, ownFile: string, context: string): Promise<MergedContext> {
  const own = await readKnown(ownFile);
  const before = await changeKubeconfig(file, (known) => mergeInto(known, own, context));
  const previous = before["current-context"];
  return { file, context, ...(typeof previous === "string" && previous !== "" && { previous }) };
}

async function readKnown(file: string): Promise<JsonObject> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw new Failure(`${file}: cannot be read (${error.code})`, HINT);
  });
  if (bytes === undefined || bytes.toString().trim() === "") return {};
  const isLong = bytes.length > MAX_BYTES;
  if (isLong || /\n---\s/.test(bytes.toString())) {
    throw new Failure(
      `${file}: not changed, because it ${isLong ? "is too large" : "contains more than one YAML document"}`,
      HINT,
    );
  }
  const value = decode(bytes, file);
  const isKubeconfig =
    isObject(value) &&
    LISTS.every((list) => value[list] === undefined || value[list] === null || Array.isArray(value[list]));
  if (!isKubeconfig) throw new Failure(`${file}: not changed, because it is not a kubeconfig`, HINT);
  return value;
}

function decode(bytes: Uint8Array, file: string): Json {
  try {
    const { value, duplicates } = decodeYaml(bytes);
    if (duplicates().length === 0) return value;
  } catch {
    // The message might contain secrets of the file.
  }
  throw new Failure(`${file}: not changed, because it is not valid YAML`, HINT);
}

const HINT = 'Use the kubeconfig in the data folder instead: export KUBECONFIG="$(binnacle kubeconfig --path)"';

/** Compat: `lockFile` of clientcmd: creates the file's name with `.lock` exclusively. */
async function takeLock(lock: string, file: string): Promise<void> {
  const since = systemClock.monotonic();
  for (;;) {
    try {
      await writeFile(lock, "", { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw new Failure(`${file}: is not writable (${code})`, HINT);
    }
    if (systemClock.monotonic() - since > LOCK_PATIENCE_MS) {
      throw new Failure(`${file}: is locked by ${lock}`, `If no kubectl is running, remove the lock: rm ${lock}`);
    }
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
