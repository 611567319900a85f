import { mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { decodeYaml } from "../../encoding/yaml/yaml.ts";
import { printYaml } from "../../encoding/yaml/yaml-print.ts";
import { writeWhole } from "../../http/private-file.ts";
import { systemClock } from "../../lib/clock.ts";
import { Failure, type Io } from "../command.ts";
import type { MergedContext } from "./data-folder.ts";

const LISTS = ["clusters", "users", "contexts"] as const;
const MAX_BYTES = 4 * 1024 * 1024;
const LOCK_PATIENCE_MS = 3000;
const LOOK_EVERY_MS = 50;

/** The file that kubectl would write to: the first of KUBECONFIG, else `~/.kube/config`. */
export function usualKubeconfig({ env }: Pick<Io, "env">): string {
  const [first] = (env.KUBECONFIG ?? "").split(path.delimiter).filter((file) => file !== "");
  return first ?? path.join(env.HOME ?? homedir(), ".kube", "config");
}

/** Puts the cluster, user and context of one kubeconfig under a name into another, and makes it the current context. */
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

/** Takes them out again. `previous` is current from then on, if ours was and it is there. */
export function removeFrom(known: JsonObject, name: string, previous: string | undefined): JsonObject {
  const left: JsonObject = { ...known };
  for (const list of LISTS) if (known[list] !== undefined) left[list] = without(known[list], name);
  if (known["current-context"] === name) left["current-context"] = isContext(left, previous) ? previous : "";
  return left;
}

/** Leaves everything there, but makes the context current that was before, if ours still is. */
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
 * Changes a kubeconfig that may be the user's own, as a whole or not at all. What is not understood is left as it is: a Failure says
 * so. Others that keep to kubectl's lock do not write at the same time. Members that are unknown stay.
 */
export async function changeKubeconfig(file: string, change: (known: JsonObject) => JsonObject): Promise<JsonObject> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // A link stays a link.
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

/** Merges the text of our kubeconfig into another file. */
export async function mergeKubeconfig(file: string, ownFile: string, context: string): Promise<MergedContext> {
  const own = await readKnown(ownFile);
  const before = await changeKubeconfig(file, (known) => mergeInto(known, own, context));
  const previous = before["current-context"];
  return { file, context, ...(typeof previous === "string" && previous !== "" && { previous }) };
}

async function readKnown(file: string): Promise<JsonObject> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw new Failure(`${file} cannot be read (${error.code})`, HINT);
  });
  if (bytes === undefined || bytes.toString().trim() === "") return {};
  const isLong = bytes.length > MAX_BYTES;
  if (isLong || /\n---\s/.test(bytes.toString())) {
    throw new Failure(`${file} is ${isLong ? "too long" : "more than one YAML document"}; it is left as it is`, HINT);
  }
  const value = decode(bytes, file);
  const isKubeconfig =
    isObject(value) &&
    LISTS.every((list) => value[list] === undefined || value[list] === null || Array.isArray(value[list]));
  if (!isKubeconfig) throw new Failure(`${file} is no kubeconfig; it is left as it is`, HINT);
  return value;
}

function decode(bytes: Uint8Array, file: string): Json {
  try {
    const { value, duplicates } = decodeYaml(bytes);
    if (duplicates().length === 0) return value;
  } catch {
    // Its text may have secrets.
  }
  throw new Failure(`${file} is no YAML that can be read; it is left as it is`, HINT);
}

const HINT = 'Use the kubeconfig of the data folder instead: export KUBECONFIG="$(binnacle kubeconfig --path)"';

/** Compat: `lockFile` of clientcmd: the file's name with `.lock`, made exclusively. */
async function takeLock(lock: string, file: string): Promise<void> {
  const since = systemClock.monotonic();
  for (;;) {
    try {
      await writeFile(lock, "", { flag: "wx", mode: 0o600 });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw new Failure(`${file} cannot be written to (${code})`, HINT);
    }
    if (systemClock.monotonic() - since > LOCK_PATIENCE_MS) {
      throw new Failure(`${file} is locked by ${lock}`, "Remove that file if no kubectl is writing.");
    }
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
