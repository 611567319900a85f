import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { printFieldError } from "../../../base/api/field-error.ts";
import { apiVersionOf, isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { readLimited } from "../../../base/files/watched-file.ts";
import { quote } from "../../../base/go/quote.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import { Draft } from "../../../resources/model/draft.ts";
import type { Resources } from "../../../resources/resources.ts";
import { strategyOf } from "../../../resources/strategies/strategy-of.ts";
import { splitDocuments } from "./manifest-documents.ts";

/** Compat: `StaticConfigSuffix`. */
const SUFFIX = ".static.k8s.io";
const API_VERSION = apiVersionOf("admissionregistration.k8s.io", "v1");
const MAX_FILES = 1000;

/** What may be in a folder of manifests. */
export interface ManifestRules {
  /** The allowed kinds. */
  readonly kinds: readonly string[];
  /** Additional validation of an object. Returns the problem, or undefined. */
  readonly problemOf: (object: KubeObject, file: string) => string | undefined;
}

/** The objects of a folder of manifests. */
export interface StaticManifests {
  /** Sorted by name. */
  readonly objects: readonly KubeObject[];
  /** Hash of the contents of all files, which changes when something has changed. */
  readonly hash: string;
}

/**
 * Reads all .yaml, .yml and .json files of a folder: objects of the given kinds, their lists, and Lists of them.
 * Objects are decoded, defaulted and validated like by the API. Throws an Error that names the file. Upstream:
 * `LoadPolicyManifests` and `LoadManifests`.
 */
export async function readStaticManifests(
  folder: string,
  rules: ManifestRules,
  resources: Resources,
): Promise<StaticManifests> {
  const hash = createHash("sha256");
  const objects = new Map<string, { readonly object: KubeObject; readonly file: string }>();
  for (const file of await filesOf(folder)) {
    const text = await readLimited(file);
    hash.update(text).update("\0");
    try {
      for (const document of splitDocuments(text)) {
        for (const object of objectsOf(decode(document), rules, resources)) accept(object, file, rules, objects);
      }
    } catch (error) {
      throw new Error(`error loading ${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
    }
  }
  const all = [...objects.values()].map(({ object }) => object);
  const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? "";
  return { objects: all.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)), hash: `sha256:${hash.digest("hex")}` };
}

/** The manifest files of a folder, sorted by name. */
export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((one) => !one.isDirectory() && /\.(ya?ml|json)$/i.test(one.name));
  if (files.length > MAX_FILES) throw new Error(`${folder} has more than ${MAX_FILES} manifests`);
  return files.map(({ name }) => path.join(folder, name)).sort();
}

function decode(document: string): JsonObject {
  const { value } = decodeYaml(Buffer.from(document));
  if (!isObject(value)) throw new Error("not an object");
  return value;
}

function objectsOf(document: JsonObject, rules: ManifestRules, resources: Resources): KubeObject[] {
  const { apiVersion, kind, items } = document;
  const ofKind = apiVersion === API_VERSION ? rules.kinds.find((one) => kind === `${one}List`) : undefined;
  if (ofKind !== undefined || (apiVersion === "v1" && kind === "List")) {
    const given = Array.isArray(items) ? items.filter(isObject) : [];
    const typed = ofKind === undefined ? {} : { apiVersion: API_VERSION, kind: ofKind };
    return given.flatMap((item) => objectsOf({ ...item, ...typed }, rules, resources));
  }
  return [readObject(document, rules, resources)];
}

function readObject(document: JsonObject, { kinds }: ManifestRules, resources: Resources): KubeObject {
  const kind = String(document.kind ?? "");
  const isKnown = document.apiVersion === API_VERSION && kinds.includes(kind);
  const served = isKnown ? resources.catalog.findKind(API_VERSION, kind) : undefined;
  if (!served) throw new Error(`unsupported resource type ${document.apiVersion} ${kind}`);
  const { definition, version } = served;
  const { value, error, strict } = strategyOf(definition).decode(document, version.schema());
  const problem = error ?? (strict.length > 0 ? `strict decoding error: ${strict.join(", ")}` : undefined);
  if (problem !== undefined) throw new Error(problem);
  const object = value as KubeObject;
  object.metadata ??= {};
  strategyOf(definition).setDefaults(served, object, resources);
  const context = {
    subresource: "",
    apiVersion: API_VERSION,
    now: resources.clock.now(),
    features: resources.features,
  };
  const problems = definition.hooks?.validate?.(object, undefined, { ...context, draft: new Draft(object) }) ?? [];
  // The API rejects names with the static suffix, but static manifests must have them.
  const wrong = problems.filter(({ field }) => field !== "metadata.name").map(printFieldError);
  if (wrong.length === 0) return object;
  const text = wrong.length === 1 ? wrong[0] : `[${wrong.join(", ")}]`;
  throw new Error(`${kind} ${quote(object.metadata.name ?? "")}: ${text}`);
}

/** Upstream: `validateAcceptedItem`. */
function accept(
  object: KubeObject,
  file: string,
  { problemOf }: ManifestRules,
  objects: Map<string, { readonly object: KubeObject; readonly file: string }>,
): void {
  const { kind, metadata } = object;
  const { name = "" } = metadata;
  if (name === "") throw new Error(`resource in file ${quote(file)} must have a name`);
  if (!name.endsWith(SUFFIX)) {
    throw new Error(`${quote(name)} in file ${quote(file)} must have a name ending with ${quote(SUFFIX)}`);
  }
  const key = `${kind}/${name}`;
  const known = objects.get(key);
  if (known) {
    const before = `(previously seen in ${quote(known.file)})`;
    throw new Error(`duplicate name ${quote(name)} found in file ${quote(file)} ${before}`);
  }
  const problem = problemOf(object, file);
  if (problem !== undefined) throw new Error(problem);
  objects.set(key, { object, file });
}

/** Whether a name has the suffix that is reserved for static manifests. */
export const isStaticName = (name: string): boolean => name.endsWith(SUFFIX);
