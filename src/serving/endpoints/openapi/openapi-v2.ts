import type { JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import type { SchemaSource } from "../../../data/schema/schema.ts";
import type { SwaggerPaths } from "../../../data/schema/swagger-paths.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { type Pause, pacer } from "../../../resources/pace.ts";
import { frame } from "./gnostic.ts";
import { encodeSwagger } from "./gnostic-v2.ts";
import { type DocumentPlan, openApiDocuments } from "./openapi-documents.ts";
import { joinPieces } from "./openapi-join.ts";
import { onceAsync } from "./openapi-pace.ts";
import {
  type Entry,
  entryOf,
  mergeSwagger,
  SECTION_NAMES,
  SECTIONS,
  type Section,
  type Sections,
} from "./openapi-v2-merge.ts";
import { type SharedParameters, swaggerPath } from "./openapi-v2-operations.ts";
import { builtInDefinition, customDefinition } from "./openapi-v2-schemas.ts";
import { BEARER, type Document, type OpenApiSource, sameItems } from "./openapi-v3.ts";

/** What the kinds of one group version, or one non-resource path, contribute to the document. */
interface Part {
  readonly definitions: readonly ResourceDefinition[];
  readonly entries: Readonly<Record<Section, ReadonlyMap<string, Entry>>>;
}
type Parts = ReadonlyMap<string, Part>;

/** Input of the version 2 document. */
export interface SwaggerSource extends OpenApiSource {
  /**
   * Documents of aggregated API servers. Returns a new array after every change. Optional. If omitted, there are none.
   */
  remoteSwaggers?(): readonly SwaggerPaths[];
}

const NO_REMOTES: readonly SwaggerPaths[] = [];

/**
 * Returns the current version 2 document. It is built on first use, with pauses, and kept until the kinds change. Then
 * only the parts of changed kinds are rebuilt.
 */
export function swaggerLibrary(source: SwaggerSource): () => Promise<Document> {
  let parts: Parts = new Map();
  let definitions: readonly ResourceDefinition[] | undefined;
  let remotes: readonly SwaggerPaths[] | undefined;
  let document: (() => Promise<Document>) | undefined;
  return () => {
    const current = source.definitions();
    const others = source.remoteSwaggers?.() ?? NO_REMOTES;
    if (document === undefined || current !== definitions || others !== remotes) {
      definitions = current;
      remotes = others;
      document = onceAsync(async () => {
        const pause = pacer();
        parts = await makeParts(source, current, parts, pause);
        return assemble(source.release, await collect(parts, others, pause), pause);
      });
    }
    return document();
  };
}

async function makeParts(
  { component, descriptions }: OpenApiSource,
  definitions: readonly ResourceDefinition[],
  known: Parts,
  pause: Pause,
): Promise<Parts> {
  const parts = new Map<string, Part>();
  const shelf = new Map<string, Entry>();
  for (const [path, plan] of openApiDocuments({ definitions, component, descriptions, namesAllGroups: true })) {
    const part = known.get(path);
    const isSame = part !== undefined && sameItems(part.definitions, plan.definitions);
    parts.set(path, isSame ? part : await makePart(plan, { component, shelf, pause }));
  }
  return parts;
}

interface Workshop {
  readonly component: SchemaSource;
  /** Schemas shared between parts. */
  readonly shelf: Map<string, Entry>;
  readonly pause: Pause;
}

async function makePart(plan: DocumentPlan, { component, shelf, pause }: Workshop): Promise<Part> {
  const content = await plan.content(pause);
  const shared: SharedParameters = new Map();
  const paths = new Map<string, Entry>();
  for (const [path, operations] of content.paths) {
    await pause();
    paths.set(path, entryOf(path, swaggerPath(operations, shared)));
  }
  const definitions = new Map<string, Entry>();
  for (const [name, schema] of Object.entries(content.schemas)) {
    let entry = shelf.get(name);
    if (entry === undefined) {
      await pause();
      const shape = schema as JsonObject;
      const isCustom = component(name) === undefined;
      entry = entryOf(name, isCustom ? await customDefinition(shape, pause) : builtInDefinition(shape));
      shelf.set(name, entry);
    }
    definitions.set(name, entry);
  }
  const parameters = new Map([...shared].map(([name, one]) => [name, entryOf(name, one)]));
  return { definitions: plan.definitions, entries: { paths, definitions, parameters } };
}

/** Joins the document from encoded pieces, with pauses, because encoding it at once would block the event loop. */
async function assemble(release: string, all: Sections, pause: Pause): Promise<Document> {
  const head = { swagger: "2.0", info: { title: "Kubernetes", version: release } };
  const tail = { securityDefinitions: { BearerToken: BEARER }, security: [{ BearerToken: [] }] };
  const sections = SECTION_NAMES.map((name) => ({ name, entries: inOrder(all[name]) }));
  const pieces: Uint8Array[] = [Buffer.from(JSON.stringify(head).slice(0, -1))];
  for (const { name, entries } of sections) {
    pieces.push(Buffer.from(`,"${name}":{`));
    for (const [index, { json }] of entries.entries()) {
      if (index > 0) pieces.push(COMMA);
      pieces.push(json);
    }
    pieces.push(CLOSING);
  }
  pieces.push(Buffer.from(`,${JSON.stringify(tail).slice(1)}`));
  const { json, hash } = await joinPieces(pieces, pause);
  share(json, pieces, sections);
  const binary = onceAsync(async () => {
    const framed: Uint8Array[] = [];
    for (const { name, entries } of sections) addAll(framed, await encodeSection(name, entries));
    return Buffer.concat([encodeSwagger("Document", head), ...framed, encodeSwagger("Document", tail)]);
  });
  return { json, hash, binary };
}

const COMMA = Buffer.from(",");
const CLOSING = Buffer.from("}");

interface SectionEntries {
  readonly name: Section;
  readonly entries: readonly Entry[];
}

/** Turns the entries into slices of the document they were copied to, so large definitions are held in memory once. */
function share(document: Uint8Array, pieces: readonly Uint8Array[], sections: readonly SectionEntries[]): void {
  const places = new Map<Uint8Array, Uint8Array>();
  let at = 0;
  for (const piece of pieces) {
    places.set(piece, document.subarray(at, at + piece.length));
    at += piece.length;
  }
  for (const { entries } of sections) for (const entry of entries) entry.json = places.get(entry.json) ?? entry.json;
}

async function encodeSection(name: Section, entries: readonly Entry[]): Promise<Uint8Array[]> {
  const pause = pacer();
  const { message, field } = SECTIONS[name];
  const encoded: Uint8Array[] = [];
  for (const { json } of entries) {
    await pause();
    const member = parseJsonText(`{${new TextDecoder().decode(json)}}`) as JsonObject;
    await pause();
    encoded.push(encodeSwagger(message, member));
  }
  return frame(field, encoded);
}

/** Merges the parts, then the documents of aggregated API servers in order. */
async function collect(parts: Parts, remotes: readonly SwaggerPaths[], pause: Pause): Promise<Sections> {
  const sections = { paths: new Map(), definitions: new Map(), parameters: new Map() };
  for (const { entries } of parts.values()) {
    for (const section of SECTION_NAMES) {
      for (const [name, entry] of entries[section]) sections[section].set(name, entry);
    }
  }
  for (const remote of remotes) {
    await pause();
    try {
      mergeSwagger(sections, remote);
    } catch {
      // An invalid document of one aggregated server must not affect the others.
    }
  }
  return sections;
}

function inOrder(entries: ReadonlyMap<string, Entry>): Entry[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
