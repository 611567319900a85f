import type { JsonObject } from "../../api/object.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import type { SchemaSource } from "../../schema/schema.ts";
import { frame } from "./gnostic.ts";
import { encodeSwagger } from "./gnostic-v2.ts";
import { type DocumentPlan, openApiDocuments } from "./openapi-documents.ts";
import { onceAsync, type Pause, pacer } from "./openapi-pace.ts";
import { type SharedParameters, swaggerPath } from "./openapi-v2-operations.ts";
import { builtInDefinition, customDefinition } from "./openapi-v2-schemas.ts";
import { BEARER, type Document, hashOf, type OpenApiSource, sameItems } from "./openapi-v3.ts";

/** A member of a section of the document in both forms. */
interface Entry {
  readonly json: string;
  readonly binary: Uint8Array;
}

/** The sections that kinds add to, with the messages they are and the fields they stand in. */
const SECTIONS = {
  paths: { message: "Paths", field: 8 },
  definitions: { message: "Definitions", field: 9 },
  parameters: { message: "ParameterDefinitions", field: 10 },
} as const;
type Section = keyof typeof SECTIONS;
const SECTION_NAMES = Object.keys(SECTIONS) as readonly Section[];

/** What the kinds of one group version, or one path about no kind, add to the document. */
interface Part {
  readonly definitions: readonly ResourceDefinition[];
  readonly entries: Readonly<Record<Section, ReadonlyMap<string, Entry>>>;
}
type Parts = ReadonlyMap<string, Part>;

/**
 * The one document of version 2 as of now: made when first asked for, with pauses, and kept until the kinds change.
 * Then only the parts about changed kinds are made again.
 */
export function swaggerLibrary(source: OpenApiSource): () => Promise<Document> {
  let parts: Parts = new Map();
  let definitions: readonly ResourceDefinition[] | undefined;
  let document: (() => Promise<Document>) | undefined;
  return () => {
    const current = source.definitions();
    if (document === undefined || current !== definitions) {
      definitions = current;
      document = onceAsync(async () => {
        const pause = pacer();
        parts = await makeParts(source, current, parts, pause);
        await pause();
        return assemble(source.release, parts);
      });
    }
    return document();
  };
}

async function makeParts(
  { component }: OpenApiSource,
  definitions: readonly ResourceDefinition[],
  known: Parts,
  pause: Pause,
): Promise<Parts> {
  const parts = new Map<string, Part>();
  const shelf = new Map<string, Entry>();
  for (const [path, plan] of openApiDocuments({ definitions, component, namesAllGroups: true })) {
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
    paths.set(path, entryOf("paths", path, swaggerPath(operations, shared)));
  }
  const definitions = new Map<string, Entry>();
  for (const [name, schema] of Object.entries(content.schemas)) {
    let entry = shelf.get(name);
    if (entry === undefined) {
      await pause();
      const define = component(name) === undefined ? customDefinition : builtInDefinition;
      entry = entryOf("definitions", name, define(schema as JsonObject));
      shelf.set(name, entry);
    }
    definitions.set(name, entry);
  }
  const parameters = new Map([...shared].map(([name, one]) => [name, entryOf("parameters", name, one)]));
  return { definitions: plan.definitions, entries: { paths, definitions, parameters } };
}

function entryOf(section: Section, name: string, value: JsonObject): Entry {
  const json = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return { json, binary: encodeSwagger(SECTIONS[section].message, { [name]: value }) };
}

/** Sections are joined from finished pieces: encoding the whole at once would hold up other requests. */
function assemble(release: string, parts: Parts): Document {
  const head = { swagger: "2.0", info: { title: "Kubernetes", version: release } };
  const tail = { securityDefinitions: { BearerToken: BEARER }, security: [{ BearerToken: [] }] };
  const sections = SECTION_NAMES.map((name) => ({ name, entries: collect(parts, name) }));
  const texts = sections.map(({ name, entries }) => `"${name}":{${entries.map(({ json }) => json).join(",")}}`);
  const opening = JSON.stringify(head).slice(0, -1);
  const json = Buffer.from(`${opening},${texts.join(",")},${JSON.stringify(tail).slice(1)}`);
  const binary = onceAsync(async () => {
    const framed = sections.flatMap(({ name, entries }) =>
      frame(
        SECTIONS[name].field,
        entries.map((entry) => entry.binary),
      ),
    );
    return Buffer.concat([encodeSwagger("Document", head), ...framed, encodeSwagger("Document", tail)]);
  });
  return { json, hash: hashOf(json), binary };
}

function collect(parts: Parts, section: Section): Entry[] {
  const entries = new Map<string, Entry>();
  for (const part of parts.values()) for (const [name, entry] of part.entries[section]) entries.set(name, entry);
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
