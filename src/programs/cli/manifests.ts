import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { decodeYaml } from "../../data/encoding/yaml/yaml.ts";
import { filesOf as manifestFiles, STANDARD_INPUT } from "../transfer/dump-file.ts";
import { Failure } from "./command.ts";

/** An object in a manifest file. */
export interface Manifest {
  /** The file, and the number of the document in it. */
  readonly source: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly object: JsonObject;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** A value in a manifest file, with the file and the number of the document in it. */
export type ManifestValue = Pick<Manifest, "source"> & { readonly value: Json };

/** Reads all objects of files and folders in order; "-" is standard input. Lists are split into their items. */
export async function readManifests(places: readonly string[], cwd: string, flag: string): Promise<Manifest[]> {
  return (await readValues(places, cwd, flag)).map(({ value, source }) => manifestOf(value, source, flag));
}

/** The same, without a check that the values are objects with a name. */
export async function readValues(places: readonly string[], cwd: string, flag: string): Promise<ManifestValue[]> {
  const found: ManifestValue[][] = [];
  for (const place of places) {
    for (const file of await filesOf(place, cwd, flag)) found.push(await valuesOf(file, flag));
  }
  return found.flat();
}

async function filesOf(place: string, cwd: string, flag: string): Promise<string[]> {
  const whole = place === STANDARD_INPUT ? place : path.resolve(cwd, place);
  const files = await manifestFiles(whole).catch((error: Error) => {
    throw new Failure(`${flag} ${error.message.replace(whole, place)}`);
  });
  if (files.length === 0) throw new Failure(`${flag} ${place}: the folder has no .yaml, .yml or .json files`);
  return files;
}

async function valuesOf(file: string, flag: string): Promise<ManifestValue[]> {
  const bytes = file === STANDARD_INPUT ? await standardInput() : await readFile(file);
  if (bytes.length > MAX_BYTES) throw new Failure(`${flag} ${file}: is larger than ${MAX_BYTES} bytes`);
  const documents = bytes.toString("utf8").split(/^---(?=\s|$)/m);
  return documents.flatMap((text, at) => {
    const source = documents.length === 1 ? file : `${file}, document ${at + 1}`;
    return objectsOf(decode(text, `${flag} ${source}`)).map((value) => ({ value, source }));
  });
}

function decode(text: string, source: string): Json {
  try {
    return decodeYaml(Buffer.from(text)).value;
  } catch (error) {
    throw new Failure(`${source}: ${error instanceof Error ? error.message : "unreadable"}`);
  }
}

function objectsOf(value: Json): Json[] {
  if (value === null) return [];
  const isList =
    isObject(value) && typeof value.kind === "string" && value.kind.endsWith("List") && Array.isArray(value.items);
  return isList ? (value.items as Json[]) : [value];
}

function manifestOf(object: Json, source: string, flag: string): Manifest {
  const { apiVersion, kind, metadata } = isObject(object) ? object : {};
  const { name, namespace } = isObject(metadata) ? metadata : {};
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string") {
    const missing = Object.entries({ apiVersion, kind, "metadata.name": name }).filter(
      ([, value]) => typeof value !== "string",
    );
    const members = missing.map(([member]) => member).join(", ");
    throw new Failure(`${flag} ${source}: not a Kubernetes object: missing ${members}`);
  }
  const place = typeof namespace === "string" && namespace !== "" ? namespace : undefined;
  return { source, apiVersion, kind, name, namespace: place, object: object as JsonObject };
}

async function standardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BYTES) break;
  }
  return Buffer.concat(chunks);
}
