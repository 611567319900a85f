import { isDeepStrictEqual } from "node:util";
import {
  alreadyExists,
  generatedNameTaken,
  invalid,
  notFound,
  plainError,
  type ResourceName,
} from "../../api/api-error.ts";
import { boundedErrors } from "../../api/field-error.ts";
import type { Json, KubeObject } from "../../api/object.ts";
import type { ObjectView } from "../../api/reply.ts";
import type { UserInfo } from "../../api/user-info.ts";
import { cloneJson } from "../../lib/clone.ts";
import { keepTimes } from "../../patch/apply/keep-times.ts";
import type { Entry, WriteResult } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { convertObject, storedApiVersion } from "../model/conversion.ts";
import type { ResourceDefinition, WriteContext } from "../model/definition.ts";
import type { ObjectKey } from "../model/keys.ts";
import { translateStoreError } from "../model/store-errors.ts";
import { decodeEntry, encodeObject } from "../model/stored-object.ts";
import type { DeletionRequest, Preconditions } from "../model/write-request.ts";
import { viewDeleted, viewObject } from "../read/object-view.ts";
import { isReleased, planDeletion } from "./deletion.ts";
import { emptyStatus } from "./empty-status.ts";
import { copyMark, showEmpties, toStoredForm } from "./explicit-empties.ts";
import { countGeneration } from "./generation.ts";
import { fillSystemMetadata, generateName, keepSystemMetadata, wipeSystemMetadata } from "./metadata.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata-validation.ts";
import { checkPreconditions, checkStored, checkVersion } from "./preconditions.ts";
import { withReservation } from "./reservation.ts";
import { keepUntouched } from "./subresource-write.ts";

/** How a write is to be done. */
export interface WriteOptions {
  /** Everything but the write itself happens. */
  readonly dryRun?: boolean;
  /** Validating admission: refuses by throwing. Called after preparation, before the write. */
  readonly admit?: (next: KubeObject, previous: KubeObject | undefined) => Promise<void>;
  /** Who writes; absent when the server itself does. */
  readonly user?: UserInfo;
  /** Receives texts for Warning headers. */
  readonly warn?: (text: string) => void;
}

/** How an update is to be done. */
export interface UpdateOptions extends WriteOptions {
  /** The write goes through this subresource and may change only what that allows. */
  readonly subresource?: string;
  /** The uid that the object must have. */
  readonly uid?: string;
  /** The resourceVersion that the object must have, whatever that of the wanted object is. */
  readonly resourceVersion?: string;
  /** A missing object is created even where the kind does not allow that by PUT (apply). */
  readonly mayCreate?: boolean;
  /** An absent resourceVersion is fine even where the kind demands one (patches). */
  readonly isPatch?: boolean;
}

/** Turns the stored object into the wanted one. Called again when another writer got there first. Owns `current`. */
export type Change = (current: KubeObject | undefined) => Promise<KubeObject> | KubeObject;

/** What came of one attempt at a write: the result, or what somebody else has written in the meantime. */
type Attempt<T> = T | { current: Entry | undefined };

const MAX_NAME_ATTEMPTS = 8;

function setMember(object: KubeObject, member: string, value: Json | undefined): void {
  if (value === undefined) delete object[member];
  else object[member] = value;
}

/** All objects of one kind, with Kubernetes' rules. Each call names the served version it speaks. */
export class Collection {
  readonly definition: ResourceDefinition;
  readonly #context: ResourceContext;

  constructor(definition: ResourceDefinition, context: ResourceContext) {
    this.definition = definition;
    this.#context = context;
  }

  /** Throws NotFound. `minRevision` 0 accepts any state; absent means the newest. */
  async get(resource: ServedResource, key: ObjectKey, minRevision?: number): Promise<ObjectView> {
    const entry = await this.#read(key, minRevision);
    if (!entry) throw notFound(this.#target(), key.name);
    return this.#context.views.view(resource, entry);
  }

  /** Creates an object that the caller owns. Throws AlreadyExists and Invalid. */
  async create(resource: ServedResource, object: KubeObject, options: WriteOptions): Promise<ObjectView> {
    if (object.metadata.resourceVersion) {
      throw plainError(500, "resourceVersion should not be set on objects to be created");
    }
    wipeSystemMetadata(object.metadata);
    const isGenerated = object.metadata.name === undefined && object.metadata.generateName !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      const next = isGenerated ? cloneJson(object) : object;
      copyMark(object, next);
      if (isGenerated) {
        next.metadata.name = generateName(object.metadata.generateName ?? "", this.#context.random);
      }
      const created = await this.#createOnce(resource, next, options);
      if (created) return created;
      const name = next.metadata.name ?? "";
      if (!isGenerated) throw alreadyExists(this.#target(), name, await this.#isBeingDeleted(next));
      if (attempt === MAX_NAME_ATTEMPTS) throw generatedNameTaken(this.#target(), name);
    }
  }

  async #createOnce(
    resource: ServedResource,
    object: KubeObject,
    options: WriteOptions & { readonly subresource?: string },
  ): Promise<ObjectView | undefined> {
    const { definition } = this;
    const { next, empties } = toStoredForm(definition, object, storedApiVersion(definition));
    const { clock, random } = this.#context;
    fillSystemMetadata(next.metadata, random.uuid(), clock.now());
    if (definition.rules.namedByUuid) next.metadata.name ??= random.uuid();
    if (definition.subresources.status?.writes === "status" && !definition.rules.createKeepsStatus) {
      setMember(next, "status", emptyStatus(definition));
    }
    const context = this.#writeContext(resource, "", options, empties);
    const reserving = {
      next,
      previous: undefined,
      context: { ...context, subresource: options.subresource ?? "" },
      dryRun: options.dryRun ?? false,
    };
    return withReservation(definition, this.#context.access, reserving, async (sent) => {
      countGeneration(definition, next);
      definition.hooks?.prepare?.(next, undefined, context);
      this.#validate(next, undefined, context);
      this.#warn(next, undefined, context, options);
      await options.admit?.(next, undefined);
      if (options.dryRun) {
        const existing = await this.#read(this.#keyOf(next));
        if (existing) return { keeps: false, outcome: undefined };
        return { keeps: false, outcome: viewObject(convertObject(definition, next, resource.apiVersion)) };
      }
      const key = this.#context.keys.key(definition, this.#keyOf(next));
      const value = encodeObject(next);
      sent();
      const result = await this.#put(key, value, 0, "create");
      if (!result.ok) return { keeps: false, outcome: undefined };
      return { keeps: true, outcome: this.#written(resource, key, value, result.revision, result.revision) };
    });
  }

  /** Changes one object. Throws NotFound, Conflict and Invalid. */
  async update(
    resource: ServedResource,
    key: ObjectKey,
    change: Change,
    options: UpdateOptions,
  ): Promise<{ view: ObjectView; created: boolean }> {
    let entry = await this.#read(key);
    for (;;) {
      if (!entry) {
        const created = await this.#createByUpdate(resource, key, change, options);
        if (created) return { view: created, created: true };
        entry = await this.#read(key);
        continue;
      }
      const outcome = await this.#updateOnce(resource, key, entry, change, options);
      if ("view" in outcome) return { view: outcome.view, created: false };
      entry = outcome.current;
    }
  }

  async #createByUpdate(
    resource: ServedResource,
    key: ObjectKey,
    change: Change,
    options: UpdateOptions,
  ): Promise<ObjectView | undefined> {
    const { createsOnUpdate = false } = this.definition.rules;
    const mayCreate = options.mayCreate || (createsOnUpdate && !options.isPatch);
    // Compat: with `AllowCreateOnUpdate` even a PUT to `/status` of an object that is not there creates it.
    const isAllowed = options.subresource === undefined || (createsOnUpdate && options.subresource === "status");
    if (!mayCreate || !isAllowed) throw notFound(this.#target(), key.name);
    const object = await change(undefined);
    checkStored(this.#target(), key.name, this.#context.keys.key(this.definition, key), options, {});
    wipeSystemMetadata(object.metadata);
    delete object.metadata.resourceVersion;
    return this.#createOnce(resource, object, options);
  }

  async #updateOnce(
    resource: ServedResource,
    key: ObjectKey,
    entry: Entry,
    change: Change,
    options: UpdateOptions,
  ): Promise<Attempt<{ view: ObjectView }>> {
    const { definition } = this;
    const current = decodeEntry(entry);
    checkStored(this.#target(), key.name, entry.key, options, current.metadata);
    const wanted = await change(convertObject(definition, cloneJson(current), resource.apiVersion));
    checkVersion(resource, wanted, entry.modRevision, options.isPatch);
    const { next, empties } = toStoredForm(definition, wanted, current.apiVersion, current);
    const context = this.#writeContext(resource, options.subresource ?? "", options, empties);
    const reserving = { next, previous: current, context, dryRun: options.dryRun ?? false };
    return withReservation<Attempt<{ view: ObjectView }>>(definition, this.#context.access, reserving, async (sent) => {
      this.#prepareUpdate(next, current, context);
      this.#validate(next, current, context);
      this.#warn(next, current, context, options);
      await options.admit?.(next, current);
      next.metadata.resourceVersion = current.metadata.resourceVersion;
      next.metadata = keepTimes(current, next).metadata;
      // Compat: an update that changes nothing answers with the old resourceVersion and sends no event.
      const isUnchanged = isDeepStrictEqual(next, current);
      if (isUnchanged) return { keeps: false, outcome: { view: this.#context.views.view(resource, entry) } };
      if (options.dryRun) {
        return { keeps: false, outcome: { view: viewObject(convertObject(definition, next, resource.apiVersion)) } };
      }
      if (isReleased(definition, next, current)) {
        return { keeps: false, outcome: await this.#removeFinalized(resource, entry, next, context) };
      }
      const value = encodeObject(next);
      sent();
      const result = await this.#put(entry.key, value, entry.modRevision, "update");
      if (!result.ok) return { keeps: false, outcome: { current: result.current } };
      const view = this.#written(resource, entry.key, value, entry.createRevision, result.revision);
      return { keeps: true, outcome: { view } };
    });
  }

  /** Removes an object that an update has freed of what held it. */
  async #removeFinalized(
    resource: ServedResource,
    entry: Entry,
    next: KubeObject,
    context: WriteContext,
  ): Promise<Attempt<{ view: ObjectView }>> {
    const removed = await this.#removeReserved(entry, decodeEntry(entry), context);
    if (!removed.ok) return { current: removed.current };
    // Compat: an update that removes the last finalizer (`deleteWithoutFinalizers`) answers with the resourceVersion
    // before the removal.
    const { key, createRevision, modRevision } = entry;
    return { view: this.#written(resource, key, encodeObject(next), createRevision, modRevision) };
  }

  /** Removes an object and gives back what it had taken from what all objects share. */
  #removeReserved(entry: Entry, current: KubeObject, context: WriteContext): Promise<WriteResult> {
    const reserving = { next: undefined, previous: current, context, dryRun: false };
    return withReservation(this.definition, this.#context.access, reserving, async (sent) => {
      sent();
      const outcome = await this.#remove(entry);
      return { keeps: outcome.ok, outcome };
    });
  }

  #prepareUpdate(next: KubeObject, current: KubeObject, context: WriteContext): void {
    const { definition } = this;
    keepSystemMetadata(next, current);
    if (context.subresource !== "") {
      keepUntouched(definition, context.subresource, next, current);
    } else if (definition.subresources.status?.writes === "status") {
      setMember(next, "status", cloneJson(current.status));
    }
    definition.hooks?.prepare?.(next, current, context);
    // Compat: subresources that act, such as pods/binding, do not change `metadata.generation`, even where they change
    // the spec.
    const isAction = definition.subresources[context.subresource]?.act !== undefined;
    if (context.subresource !== "status" && !isAction) countGeneration(definition, next, current, context.empties);
  }

  /** Deletes one object, or begins to. `removed` is false while something still holds it. */
  async delete(
    resource: ServedResource,
    key: ObjectKey,
    request: DeletionRequest & { readonly preconditions?: Preconditions },
    options: WriteOptions,
  ): Promise<{ view: ObjectView; removed: boolean }> {
    let entry = await this.#read(key);
    for (;;) {
      if (!entry) throw notFound(this.#target(), key.name);
      const current = decodeEntry(entry);
      checkPreconditions(this.definition, key.name, request.preconditions, current);
      await options.admit?.(current, current);
      const outcome = await this.#deleteOnce(resource, entry, current, request, options);
      if ("view" in outcome) return outcome;
      entry = outcome.current;
    }
  }

  async #deleteOnce(
    resource: ServedResource,
    entry: Entry,
    current: KubeObject,
    request: DeletionRequest,
    options: WriteOptions,
  ): Promise<Attempt<{ view: ObjectView; removed: boolean }>> {
    const plan = planDeletion(this.definition, current, request, this.#context.clock.now());
    const { views } = this.#context;
    if (plan.action === "none") return { view: views.view(resource, entry), removed: false };
    if (options.dryRun) {
      const shown = plan.action === "mark" ? plan.next : current;
      const removed = plan.action === "remove" || plan.thenRemove;
      return { view: viewObject(convertObject(this.definition, shown, resource.apiVersion)), removed };
    }
    const context = this.#writeContext(resource, "", options);
    if (plan.action === "remove") {
      const result = await this.#removeReserved(entry, current, context);
      if (!result.ok) return { current: result.current };
      return { view: viewDeleted(resource, entry, result.revision), removed: true };
    }
    const value = encodeObject(plan.next);
    const result = await this.#put(entry.key, value, entry.modRevision, "delete");
    if (!result.ok) return { current: result.current };
    const marked: Entry = { key: entry.key, value, createRevision: entry.createRevision, modRevision: result.revision };
    if (!plan.thenRemove) return { view: views.view(resource, marked), removed: false };
    const removed = await this.#removeReserved(marked, plan.next, context);
    if (!removed.ok && removed.current) return { current: removed.current };
    const revision = removed.ok ? removed.revision : result.revision;
    return { view: viewDeleted(resource, marked, revision), removed: true };
  }

  #writeContext(
    { apiVersion }: ServedResource,
    subresource: string,
    { user }: WriteOptions,
    empties?: WriteContext["empties"],
  ): WriteContext {
    return { subresource, apiVersion, user, now: this.#context.clock.now(), empties };
  }

  #validate(next: KubeObject, current: KubeObject | undefined, context: WriteContext): void {
    const { definition } = this;
    const { catalog } = this.#context;
    const cannotOwn = (apiVersion: string, kind: string) =>
      catalog.findKind(apiVersion, kind)?.definition.rules.cannotOwn ?? false;
    const errors = boundedErrors(() => {
      const metadata = validateMetadata(definition, next, cannotOwn);
      if (current) metadata.push(...validateMetadataUpdate(next, current));
      const own = definition.hooks?.validate?.(next, current, context) ?? [];
      return definition.rules.metadataLast && !current && own.length > 0 ? own : [...metadata, ...own];
    });
    if (errors.length === 0) return;
    // Compat: the 422 of a kind that is stored in another group, such as Event of events.k8s.io, names that group.
    const group = definition.storage?.group ?? definition.group;
    throw invalid({ group, kind: definition.kind }, next.metadata.name ?? "", showEmpties(errors, context.empties));
  }

  #warn(next: KubeObject, current: KubeObject | undefined, context: WriteContext, options: WriteOptions): void {
    for (const text of this.definition.hooks?.warn?.(next, current, context) ?? []) options.warn?.(text);
  }

  async #isBeingDeleted(object: KubeObject): Promise<boolean> {
    const entry = await this.#read(this.#keyOf(object));
    return entry !== undefined && decodeEntry(entry).metadata.deletionTimestamp !== undefined;
  }

  #keyOf(object: KubeObject): ObjectKey {
    return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
  }

  #target(): ResourceName {
    const { group, plural } = this.definition;
    return { group, resource: plural };
  }

  #written(resource: ServedResource, key: string, value: Uint8Array, createRevision: number, revision: number) {
    return this.#context.views.view(resource, { key, value, createRevision, modRevision: revision });
  }

  async #read(key: ObjectKey, minRevision?: number): Promise<Entry | undefined> {
    try {
      return await this.#context.store.get(this.#context.keys.key(this.definition, key), { minRevision });
    } catch (error) {
      throw translateStoreError(error, { target: this.#target(), operation: "get", revision: minRevision });
    }
  }

  async #put(key: string, value: Uint8Array, expected: number, operation: "create" | "update" | "delete") {
    try {
      return await this.#context.store.put(key, value, expected, { ttlSeconds: this.definition.rules.ttlSeconds });
    } catch (error) {
      throw translateStoreError(error, { target: this.#target(), operation });
    }
  }

  async #remove(entry: Entry): Promise<WriteResult> {
    try {
      return await this.#context.store.delete(entry.key, entry.modRevision);
    } catch (error) {
      throw translateStoreError(error, { target: this.#target(), operation: "delete" });
    }
  }
}
