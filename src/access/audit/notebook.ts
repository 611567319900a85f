import type { AuditKeeps, AuditNotes, CallAudit } from "../../base/api/call.ts";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { parseJson, printJson } from "../../data/encoding/json/json.ts";

const MAX_ANNOTATIONS = 200;
/** Maximum size of a recorded response. Larger ones are omitted, and an annotation is added. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const IDENTIFYING = ["namespace", "name", "uid", "resourceVersion"] as const;

/** Collects what verbs and plugins report about a request. */
export class AuditNotebook implements CallAudit {
  readonly keeps: AuditKeeps;
  readonly notes: AuditNotes = {
    annotations: new Map(),
    metadata: {},
    requestObject: undefined,
    responseObject: undefined,
    status: undefined,
  };

  constructor(keeps: AuditKeeps) {
    this.keeps = keeps;
  }

  annotate(key: string, value: string): void {
    // Compat: AddAuditAnnotation keeps the first value of a key.
    const { annotations } = this.notes;
    if (!annotations.has(key) && annotations.size < MAX_ANNOTATIONS) annotations.set(key, value);
  }

  sent(object: JsonObject): void {
    const metadata = isObject(object.metadata) ? object.metadata : {};
    for (const member of IDENTIFYING) this.notes.metadata[member] ??= metadata[member] ?? "";
    if (this.keeps.requests) this.notes.requestObject = this.#print(object);
  }

  sentPatch(patch: Json): void {
    if (this.keeps.requests) this.notes.requestObject = compactJson(patch);
  }

  /** Records the response object, given as JSON or in chunks of it. */
  async answeredWith(json: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    if (!this.keeps.responses) return;
    const bytes = await collect(json);
    if (bytes === undefined) this.annotate("audit.k8s.io/truncated", "true");
    else
      this.notes.responseObject = this.keeps.managedFields ? bytes.toString().trimEnd() : this.#print(parseJson(bytes));
  }

  take({ annotations, metadata, requestObject, responseObject, status }: AuditNotes): void {
    for (const [key, value] of annotations) this.annotate(key, value);
    Object.assign(this.notes, { metadata: { ...metadata, ...this.notes.metadata } });
    Object.assign(this.notes, { requestObject, responseObject, status });
  }

  #print(value: Json): string {
    return compactJson(this.keeps.managedFields || !isObject(value) ? value : withoutManagedFields(value));
  }
}

async function collect(json: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  if (typeof json === "string" || json instanceof Uint8Array) {
    return json.length > MAX_RESPONSE_BYTES ? undefined : Buffer.from(json as string);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of json) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** JSON on one line, without a trailing line feed. */
function compactJson(value: Json): string {
  return printJson(value, false).trimEnd();
}

/** Compat: copyWithoutManagedFields: removes them from an object, the items of a list and the rows of a Table. */
function withoutManagedFields(value: JsonObject): JsonObject {
  const { metadata, items, rows } = value;
  const each = (list: readonly Json[], change: (item: JsonObject) => JsonObject): Json[] =>
    list.map((item) => (isObject(item) ? change(item) : item));
  return {
    ...value,
    ...(isObject(metadata) && { metadata: withoutMember(metadata) }),
    ...(Array.isArray(items) && { items: each(items, withoutManagedFields) }),
    ...(Array.isArray(rows) && {
      rows: each(rows, (row) => (isObject(row.object) ? { ...row, object: withoutManagedFields(row.object) } : row)),
    }),
  };
}

function withoutMember({ managedFields: _, ...rest }: JsonObject): JsonObject {
  return rest;
}
