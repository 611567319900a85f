import type { JsonObject } from "../../api/object.ts";
import { addAll } from "../../lib/add-all.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import { type Pause, pacer } from "../../resources/pace.ts";
import type { SchemaSource } from "../../schema/schema.ts";
import type { SwaggerPaths } from "../../schema/swagger-paths.ts";
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

/** What the kinds of one group version, or one path about no kind, add to the document. */
interface Part {
  readonly definitions: readonly ResourceDefinition[];
  readonly entries: Readonly<Record<Section, ReadonlyMap<string, Entry>>>;
}
type Parts = ReadonlyMap<string, Part>;

/** What the document of version 2 is made from. */
export interface SwaggerSource extends OpenApiSource {
  /** What other servers' documents say; a different array when that changed. Absent: there are no other servers. */
  remoteSwaggers?(): readonly SwaggerPaths[];
}

const NO_REMOTES: readonly SwaggerPaths[] = [];

/**
 * The one document of version 2 as of now: made when first asked for, with pauses, and kept until the kinds change.
 * Then only the parts about changed kinds are made again.
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
  /** Shapes that another part has, too. */
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
      const define = component(name) === undefined ? customDefinition : builtInDefinition;
      entry = entryOf(name, define(schema as JsonObject));
      shelf.set(name, entry);
    }
    definitions.set(name, entry);
  }
  const parameters = new Map([...shared].map(([name, one]) => [name, entryOf(name, one)]));
  return { definitions: plan.definitions, entries: { paths, definitions, parameters } };
}

/** The document is joined from finished pieces, with pauses: encoding the whole at once would hold up other requests. */
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

/** Makes the entries parts of the document that they were copied to: large definitions are held once. */
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
    encoded.push(encodeSwagger(message, JSON.parse(`{${new TextDecoder().decode(json)}}`) as JsonObject));
  }
  return frame(field, encoded);
}

/** What the parts and the other servers say, those in their order. */
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
      // What another server says wrongly about itself is no reason to say nothing about the rest.
    }
  }
  return sections;
}

function inOrder(entries: ReadonlyMap<string, Entry>): Entry[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
