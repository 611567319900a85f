import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, type Json, type JsonObject } from "../api/object.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";
import { filesOf as manifestFiles, STANDARD_INPUT } from "../transfer/dump-file.ts";
import { Failure } from "./command.ts";

/** An object as a file has it. */
export interface Manifest {
  /** The file, and which of its documents. */
  readonly source: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly object: JsonObject;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** All objects of files and folders, in their order; "-" is standard input. Lists are taken apart. */
export async function readManifests(places: readonly string[], cwd: string, flag: string): Promise<Manifest[]> {
  const found: Manifest[][] = [];
  for (const place of places) {
    for (const file of await filesOf(place, cwd, flag)) found.push(await manifestsOf(file, flag));
  }
  return found.flat();
}

async function filesOf(place: string, cwd: string, flag: string): Promise<string[]> {
  const files = await manifestFiles(place === STANDARD_INPUT ? place : path.resolve(cwd, place)).catch(() => {
    throw new Failure(`${flag} ${place}: there is no such file or folder`);
  });
  if (files.length === 0) throw new Failure(`${flag} ${place}: no file in it ends with .yaml, .yml, .json`);
  return files;
}

async function manifestsOf(file: string, flag: string): Promise<Manifest[]> {
  const bytes = file === STANDARD_INPUT ? await standardInput() : await readFile(file);
  if (bytes.length > MAX_BYTES) throw new Failure(`${flag} ${file}: is larger than ${MAX_BYTES} bytes`);
  const documents = bytes.toString("utf8").split(/^---(?=\s|$)/m);
  return documents.flatMap((text, at) => {
    const source = documents.length === 1 ? file : `${file}, document ${at + 1}`;
    return objectsOf(decode(text, `${flag} ${source}`)).map((object) => manifestOf(object, source, flag));
  });
}

function decode(text: string, source: string): Json {
  try {
    return decodeYaml(Buffer.from(text)).value;
  } catch (error) {
    throw new Failure(`${source}: ${error instanceof Error ? error.message : "cannot be read"}`);
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
    throw new Failure(`${flag} ${source}: an object needs apiVersion, kind and metadata.name`);
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
