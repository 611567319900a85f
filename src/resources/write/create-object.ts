import { alreadyExists, generatedNameTaken, plainError } from "../../base/api/api-error.ts";
import type { ObjectMeta } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import type { ServedResource } from "../model/catalog.ts";
import { storedApiVersion } from "../model/conversion.ts";
import type { Draft } from "../model/draft.ts";
import { showObject } from "../read/converted-views.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import { emptyStatus } from "./empty-status.ts";
import { toStoredForm } from "./explicit-empties.ts";
import { countGeneration } from "./generation.ts";
import type { KindEntries } from "./kind-entries.ts";
import { fillSystemMetadata, generateName, wipeSystemMetadata } from "./metadata.ts";
import { withReservation } from "./reservation.ts";
import { setMember } from "./subresource-write.ts";
import { validateWrite, warnOfWrite } from "./validate-write.ts";
import type { UpdateOptions, WriteOptions } from "./write-options.ts";

const MAX_NAME_ATTEMPTS = 8;

/** Creates an object. If a generated name is taken, tries another. Throws AlreadyExists and Invalid. */
export async function createObject(
  entries: KindEntries,
  resource: ServedResource,
  draft: Draft,
  options: WriteOptions,
): Promise<ObjectView> {
  const { metadata } = draft.object;
  wipeSystemMetadata(metadata);
  const isGenerated = metadata.name === undefined && metadata.generateName !== undefined;
  for (let attempt = 1; ; attempt += 1) {
    const next = isGenerated ? draft.copy() : draft;
    if (isGenerated) next.object.metadata.name = generateName(metadata.generateName ?? "", entries.context.random);
    const created = await createOnce(entries, resource, next, options);
    if (created) return created;
    const name = next.object.metadata.name ?? "";
    if (!isGenerated) throw alreadyExists(entries.resourceName, name, await isBeingDeleted(entries, next));
    if (attempt === MAX_NAME_ATTEMPTS) throw generatedNameTaken(entries.resourceName, name);
  }
}

/** One attempt at a create. `requestName` is set for PUT and apply. Undefined if the object exists. Throws Invalid. */
export async function createOnce(
  entries: KindEntries,
  resource: ServedResource,
  draft: Draft,
  options: UpdateOptions,
  requestName = "",
): Promise<ObjectView | undefined> {
  const { definition } = entries;
  const { clock, codec, random } = entries.context;
  // Compat: a custom resource is prepared, validated and admitted in the version of the request, because each version
  // has its own `customResourceStrategy`.
  const { isUnstructured } = strategyOf(definition);
  const working = isUnstructured ? draft : await toStoredForm(definition, draft, storedApiVersion(definition));
  const next = working.object;
  fillSystemMetadata(next.metadata, random.uuid(), clock.now());
  if (definition.rules.namedByUuid) next.metadata.name ??= random.uuid();
  if (resource.subresources.status?.writes === "status" && !definition.rules.createKeepsStatus) {
    setMember(next, "status", emptyStatus(definition));
  }
  const reserving = {
    next,
    previous: undefined,
    context: entries.writeContext(resource, working, options),
    requestName,
    dryRun: options.dryRun ?? false,
  };
  // If a write to a subresource creates the object, the whole object is prepared and validated.
  const context = options.subresource === undefined ? reserving.context : { ...reserving.context, subresource: "" };
  const ready = strategyOf(definition).prepare?.(resource.version);
  if (ready !== undefined) await ready;
  return withReservation(definition, entries.context, reserving, async (sent) => {
    countGeneration(definition, next);
    definition.hooks?.prepare?.(next, undefined, context);
    validateWrite(entries, undefined, context, options);
    warnOfWrite(entries, undefined, context, options);
    await options.admit?.(next, undefined);
    const stored = isUnstructured ? await toStoredForm(definition, working, storedApiVersion(definition)) : working;
    const key = entries.keyOf(next);
    if (options.dryRun) {
      if (await entries.read(key, "create")) return { keeps: false, outcome: undefined };
      return { keeps: false, outcome: showObject(resource, stored.object) };
    }
    refuseVersion(next.metadata);
    const value = codec.writeDraft(stored);
    sent();
    const result = await entries.put(key, value, 0, "create");
    if (!result.ok) return { keeps: false, outcome: undefined };
    const { revision } = result;
    return { keeps: true, outcome: entries.view(resource, { key, value, createRevision: revision }, revision) };
  });
}

const MAX_VERSION = 2n ** 64n;

/**
 * Compat: only the storage rejects `metadata.resourceVersion` (`ErrResourceVersionSetOnCreate`). Therefore invalid
 * objects get a 422, and dry runs a 201 that contains it. It rejects values that `ParseUint` parses as more than 0, and
 * drops the others.
 */
function refuseVersion({ resourceVersion = "" }: ObjectMeta): void {
  const version = /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
  if (version === 0n || version >= MAX_VERSION) return;
  throw plainError(500, "resourceVersion should not be set on objects to be created");
}

async function isBeingDeleted(entries: KindEntries, { object }: Draft): Promise<boolean> {
  const entry = await entries.read(entries.keyOf(object), "create");
  return entry !== undefined && entries.context.codec.read(entry).metadata.deletionTimestamp !== undefined;
}
