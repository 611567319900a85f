import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { DecodeError, parseJson } from "../json/json.ts";
import { decodeYaml } from "../yaml/yaml.ts";
import { DocumentError, type RawDocument, type Splitter } from "./document.ts";
import { JsonSplitter } from "./json-splitter.ts";
import { YamlSplitter } from "./yaml-splitter.ts";

/** An object and its first line in the text. */
export interface FoundObject {
  readonly object: KubeObject;
  readonly line: number;
}

type Read = (bytes: Uint8Array) => Json;

const readYaml: Read = (bytes) => decodeYaml(bytes).value;

const BYTE_ORDER_MARK = /^\ufeff/;

/**
 * The objects of a text, with lists split into items: YAML with any number of documents, or JSON with any number of
 * values. Only one object at a time is in memory. Throws DocumentError, which contains the line number.
 */
export async function* readObjects(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<FoundObject> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let splitter: Splitter | undefined;
  let read: Read = readYaml;
  let beginning = "";
  for await (const piece of pieces) {
    let text = decoder.decode(piece, { stream: true });
    if (splitter === undefined) {
      beginning = (beginning + text).replace(BYTE_ORDER_MARK, "");
      if (beginning.trim() === "") continue;
      const isJson = beginning.trimStart().startsWith("{");
      splitter = isJson ? new JsonSplitter() : new YamlSplitter();
      read = isJson ? parseJson : readYaml;
      text = beginning;
    }
    yield* objectsOf(splitter.push(text), read);
  }
  if (splitter === undefined) return;
  yield* objectsOf(splitter.push(decoder.decode()), read);
  yield* objectsOf(splitter.end(), read);
}

function* objectsOf(documents: readonly RawDocument[], read: Read): Generator<FoundObject> {
  for (const raw of documents) yield* objectsIn(raw, read);
}

function* objectsIn(raw: RawDocument, read: Read): Generator<FoundObject> {
  const { line, type } = raw;
  const value = decode(raw, read);
  if (value === null) return;
  if (type && isObject(value)) yield* flatten({ ...type, ...value }, line);
  else yield* flatten(value, line);
}

function decode({ text, line }: RawDocument, read: Read): Json {
  try {
    return read(Buffer.from(text));
  } catch (error) {
    if (error instanceof DecodeError || (error instanceof Error && "code" in error)) {
      throw new DocumentError(line, `cannot decode the object that begins here: ${error.message}`);
    }
    throw error;
  }
}

function* flatten(value: Json, line: number): Generator<FoundObject> {
  if (!isObject(value)) {
    throw new DocumentError(line, `expected an object, not ${JSON.stringify(value).slice(0, 100)}`);
  }
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || apiVersion === "" || kind === "") {
    throw new DocumentError(line, "the object has no apiVersion or kind");
  }
  if (Array.isArray(value.items) && kind.endsWith("List")) {
    const type = kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
    for (const item of value.items) yield* flatten(isObject(item) ? { ...type, ...item } : item, line);
    return;
  }
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw new DocumentError(line, "metadata is not an object");
  }
  yield { object: { ...value, apiVersion, kind, metadata: metadata ?? {} }, line };
}
