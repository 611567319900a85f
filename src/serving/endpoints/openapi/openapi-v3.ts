import type { JsonObject } from "../../../base/api/object.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import type { SchemaSource } from "../../../data/schema/schema.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { type Pause, pacer } from "../../../resources/pace.ts";
import { frame } from "./gnostic.ts";
import { encodeOpenApi } from "./gnostic-v3.ts";
import type { DescriptionSource } from "./openapi-descriptions.ts";
import { type DocumentContent, openApiDocuments } from "./openapi-documents.ts";
import { type Joined, printDocument } from "./openapi-join.ts";
import { publishPath } from "./openapi-operations.ts";
import { onceAsync } from "./openapi-pace.ts";

/** Input of the OpenAPI documents. */
export interface OpenApiSource {
  /** The kinds served now. Returns a new array after every change. */
  definitions(): readonly ResourceDefinition[];
  /** Built-in schemas by name. */
  readonly component: SchemaSource;
  /** Descriptions of built-in schemas and their fields. */
  readonly descriptions: DescriptionSource;
  /** Release number in the documents, e.g. "1.37". */
  readonly release: string;
}

/** A finished document. Its hash is also used for the protobuf encoding. */
export interface Document extends Joined {
  /** The protobuf encoding, created on first use. */
  binary(): Promise<Uint8Array>;
}

/** A document that is built on first use, and its kinds. */
interface Shelved {
  readonly definitions: readonly ResourceDefinition[];
  readonly document: () => Promise<Document>;
}

/** All documents by their path below `/openapi/v3/`, sorted. */
export type Library = ReadonlyMap<string, Shelved>;

/** Returns the current documents. Those whose kinds have not changed since the last call are reused. */
export function documentLibrary(source: OpenApiSource): () => Library {
  let definitions: readonly ResourceDefinition[] | undefined;
  let library: Library = new Map();
  return () => {
    const current = source.definitions();
    if (current === definitions) return library;
    const next = new Map<string, Shelved>();
    for (const [path, plan] of openApiDocuments({
      definitions: current,
      component: source.component,
      descriptions: source.descriptions,
    })) {
      const known = library.get(path);
      const isSame = known !== undefined && sameItems(known.definitions, plan.definitions);
      const document = onceAsync(async () => {
        const pause = pacer();
        return finish(await publish(await plan.content(pause), source.release, pause), pause);
      });
      next.set(path, isSame ? known : { definitions: plan.definitions, document });
    }
    definitions = current;
    library = next;
    return library;
  };
}

/** Whether two lists contain identical items in the same order. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, position) => item === b[position]);
}

async function finish(document: JsonObject, pause: Pause): Promise<Document> {
  const { json, hash } = await printDocument(document, pause);
  const binary = onceAsync(async () => {
    const ownPause = pacer();
    const published = parseJsonText(new TextDecoder().decode(json)) as Published;
    return encode(published, ownPause);
  });
  return { json, hash, binary };
}

interface Published {
  readonly openapi: string;
  readonly info: JsonObject;
  readonly paths: JsonObject;
  readonly components: { readonly schemas?: JsonObject; readonly securitySchemes?: JsonObject };
}

/** Encodes the document as protobuf in pieces, with pauses, because encoding it at once would block the event loop. */
async function encode({ openapi, info, paths, components }: Published, pause: Pause): Promise<Uint8Array> {
  const { schemas, ...others } = components;
  const members = async (message: string, value: JsonObject): Promise<Uint8Array[]> => {
    const pieces: Uint8Array[] = [];
    for (const [name, member] of Object.entries(value)) {
      await pause();
      pieces.push(encodeOpenApi(message, { [name]: member }));
    }
    return pieces;
  };
  const shapes = schemas === undefined ? [] : frame(1, await members("SchemasOrReferences", schemas));
  return Buffer.concat([
    encodeOpenApi("Document", { openapi, info }),
    ...frame(4, await members("Paths", paths)),
    ...frame(5, [...shapes, encodeOpenApi("Components", others)]),
  ]);
}

async function publish(content: DocumentContent, release: string, pause: Pause): Promise<JsonObject> {
  const { schemas, isCustom } = content;
  const paths: JsonObject = {};
  for (const [path, operations] of content.paths) {
    await pause();
    paths[path] = publishPath(operations);
  }
  // Compat: documents of custom resources come from apiextensions-apiserver and have the title "Kubernetes CRD
  // Swagger".
  if (isCustom) {
    const info = { title: "Kubernetes CRD Swagger", version: "v0.1.0" };
    return { openapi: "3.0.0", info, paths, components: { schemas } };
  }
  const info = { title: "Kubernetes", version: release };
  const securitySchemes = { BearerToken: BEARER };
  const components = Object.keys(schemas).length === 0 ? { securitySchemes } : { schemas, securitySchemes };
  return { openapi: "3.0.0", info, paths, components };
}

/** The security scheme in the documents. */
export const BEARER: JsonObject = {
  type: "apiKey",
  description: "Bearer Token authentication",
  name: "authorization",
  in: "header",
};
