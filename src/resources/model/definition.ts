import type { FeatureGates } from "../../base/api/feature-gates.ts";
import type { FieldError } from "../../base/api/field-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { TableShape } from "../../base/api/reply.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Random } from "../../base/util/random.ts";
import type { Schema } from "../../data/schema/schema.ts";
import type { Pause } from "../pace.ts";
import type { Draft } from "./draft.ts";
import type { ObjectKey } from "./keys.ts";
import type { DeletionRequest, Preconditions } from "./write-request.ts";

/** The verbs of a resource. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** Name validation of a kind's objects. `base/api/names.ts` contains the rules. */
export type NameRule =
  | "dns1123Subdomain"
  | "dns1123Label"
  | "pathSegment"
  | "configMapKey"
  | "canonicalIP"
  /** The kind's validate hook checks names. */
  | "own";

/** Deprecation of a version. Every response to its requests has a Warning header. */
export interface Deprecation {
  /** Release in which the version was deprecated, e.g. "1.37". Optional if `message` is given. */
  readonly since?: string;
  /** The complete text of the Warning. */
  readonly message?: string;
  /** First release that does not serve the version. */
  readonly removed?: string;
  /** apiVersion and kind to use instead, e.g. "certificates.k8s.io/v1 ClusterTrustBundle". */
  readonly replacement?: string;
}

/** A field that field selectors support, and how to read its value from an object of this version. */
export interface SelectableField {
  readonly name: string;
  readonly value: (object: KubeObject) => string;
}

/** A version of a kind that clients can read and write. */
export interface ServedVersion {
  readonly name: string;
  /** The schema of the kind in this version. Loaded on first use. */
  readonly schema: () => Schema;
  /**
   * Builds a schema that may be large in steps, so that `schema` has it. Undefined if it is there. Optional. If omitted,
   * `schema` takes no time.
   */
  readonly prepareSchema?: () => Promise<void> | undefined;
  /**
   * The schema for one-time use, as for OpenAPI: does not populate the cache. Optional. If omitted, `schema` is used.
   */
  readonly schemaForOnce?: (pause: Pause) => Promise<Schema>;
  /** Schema name in published OpenAPI documents, e.g. "io.k8s.api.core.v1.Pod". */
  readonly schemaName: string;
  readonly table?: TableShape;
  /** Fields in addition to metadata.name and metadata.namespace. */
  readonly selectableFields?: readonly SelectableField[];
  readonly deprecation?: Deprecation;
  /** Overrides the rule of the definition for this version. */
  readonly requiresResourceVersion?: boolean;
  /** Overrides the rule of the definition for this version. */
  readonly deleteReturnsObject?: boolean;
  /** Overrides the subresources of the definition for this version. */
  readonly subresources?: Readonly<Record<string, Subresource>>;
  /** Lists and watches of this version do not support `shardSelector`. */
  readonly noShardSelector?: boolean;
}

/** Access to other objects, for hooks and subresources. */
export interface ObjectAccess {
  /**
   * Returns a stored object, or undefined. May be slightly stale unless "newest" is requested. Found and listed objects
   * are shared with other readers and must not be changed.
   */
  find(group: string, plural: string, key: ObjectKey, freshness?: "newest" | "any"): Promise<KubeObject | undefined>;
  /**
   * Lists the objects of a kind in a namespace, or in all namespaces if it is empty. With "any", the list may be
   * slightly stale.
   */
  list(group: string, plural: string, namespace: string, freshness?: "newest" | "any"): Promise<KubeObject[]>;
  /** Creates an object with defaults, with the server as field manager. Throws AlreadyExists and Invalid. */
  create(group: string, plural: string, object: KubeObject): Promise<KubeObject>;
  /** Changes an object. `change` is called again after a conflict with another writer. Throws NotFound. */
  update(
    group: string,
    plural: string,
    key: ObjectKey,
    change: (current: KubeObject) => KubeObject,
    options?: ChangeOptions,
  ): Promise<KubeObject>;
  /** Deletes an object. Throws NotFound, and Conflict if the preconditions fail. */
  delete(
    group: string,
    plural: string,
    key: ObjectKey,
    request?: DeletionRequest & { readonly preconditions?: Preconditions; readonly dryRun?: boolean },
  ): Promise<void>;
  /**
   * Reads a record that is not an object of a kind, such as an allocation map. `place` is relative to the store's
   * prefix.
   */
  findRecord(place: string): Promise<KubeObject | undefined>;
  /**
   * Changes a record. `change` receives undefined if the record does not exist, and is called again after a conflict.
   * If it returns undefined, the record is not written.
   */
  changeRecord(place: string, change: (current: KubeObject | undefined) => KubeObject | undefined): Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Options for changes by hooks and subresources. */
export interface ChangeOptions {
  /** The subresource to write through. One with an action may change everything but the generation. */
  readonly subresource?: string;
  /** Conditions that the stored object must meet. */
  readonly preconditions?: Preconditions;
  readonly dryRun?: boolean;
}

/** Paths of a kind's replica counts, such as ".spec.replicas". */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Path of the selector, which the Scale shows as text. */
  readonly selector?: string;
}

/** The kind of a subresource if it differs from the object's kind, e.g. Scale of autoscaling/v1. */
export interface SubresourceKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Other versions that bodies may have, with the same schema. */
  readonly otherVersions?: readonly string[];
  /** Schema of bodies of this kind. Loaded on first use. */
  readonly schema?: () => Schema;
  readonly table?: TableShape;
  readonly hooks?: Pick<ResourceHooks, "setDefaults">;
}

/** A path below an object, such as `status`. */
export interface Subresource {
  readonly verbs: readonly Verb[];
  readonly kind?: SubresourceKind;
  /**
   * What a write through the subresource may change: the status, everything but the status ("object", the kind's own
   * rules define the difference), or exactly the members at these paths. Optional. If omitted, the subresource has its
   * own handler.
   */
  readonly writes?: "status" | "object" | readonly string[];
  /**
   * Upstream's `GetResetFields`: fields that a write through the subresource does not own, if they differ from the
   * default: "spec", "status.conditions".
   */
  readonly resets?: readonly string[];
  /** The subresource is a Scale of autoscaling/v1. */
  readonly scale?: ScalePaths;
  /** The name of the action that a create runs. */
  readonly action?: string;
  /** Request or response bodies contain secrets that must not be logged. */
  readonly isSecret?: boolean;
  /** Connects to a node, pod or service instead of reading or writing the object. Such requests have no deadline. */
  readonly connect?: boolean;
  /** Maximum size of a request body. Default: that of the kind, if the subresource has no kind of its own. */
  readonly maxBodyBytes?: number;
}

/** Rules that differ between kinds. */
export interface ResourceRules {
  /** "counted": generation starts at 1 and grows with the spec. "fixed": it stays 1. Default: no generation. */
  readonly generation?: "counted" | "fixed";
  /** Generation also grows if a client sends an empty list or map, although the stored object does not change. */
  readonly countsEmpties?: boolean;
  /** Objects contain secrets that must not be logged. */
  readonly isSecret?: boolean;
  /** Maximum size of a request body, for kinds whose objects are never large. Default: `MAX_BODY_BYTES`. */
  readonly maxBodyBytes?: number;
  /** Default: dns1123Subdomain. */
  readonly nameRule?: NameRule;
  /** An object without `metadata.name` gets a UUID as name. */
  readonly namedByUuid?: boolean;
  /** Upstream's `AllowCreateOnUpdate`: PUT of an object that does not exist creates it. */
  readonly createsOnUpdate?: boolean;
  /** Upstream's `AllowUnconditionalUpdate` is false: PUT without a resourceVersion is rejected. */
  readonly requiresResourceVersion?: boolean;
  /** Upstream's `ReturnDeletedObject`: DELETE returns the last state of the object instead of a Status. */
  readonly deleteReturnsObject?: boolean;
  /**
   * Upstream's `DefaultGarbageCollectionPolicy`: what happens to dependents if DELETE has no propagationPolicy.
   * "unsupported": finalizers for dependents are never set.
   */
  readonly garbageCollection?: "delete" | "orphan" | "unsupported";
  /** The Warning for a DELETE without propagationPolicy, if dependents are orphaned. */
  readonly orphanWarning?: string;
  /** Create keeps the status sent by the client. */
  readonly createKeepsStatus?: boolean;
  /** A status write keeps the stored metadata (labels, annotations and so on), or just these members of it. */
  readonly statusKeepsMetadata?: boolean | readonly string[];
  /**
   * Upstream's `GetResetFields`: fields that a write of the object itself does not own. Default: the status, if it has
   * its own subresource.
   */
  readonly resets?: readonly string[];
  /** Metadata errors of a new object are only reported if there are no other errors. */
  readonly metadataLast?: boolean;
  /** Objects of this kind may not be used in ownerReferences. */
  readonly cannotOwn?: boolean;
  /** Finalizers need not be standard or qualified names. */
  readonly freeFinalizers?: boolean;
  /** Seconds after its last write at which an object is deleted. */
  readonly ttlSeconds?: number;
  /**
   * Message of the 400 for an unsupported field selector; `%s` stands for the field, `%v` for the apiVersion. Default:
   * the generic message.
   */
  readonly unknownFieldMessage?: string;
}

/** What defaulting may depend on besides the object. */
export interface DefaultsContext {
  readonly clock: Clock;
  readonly features: FeatureGates;
}

/** The circumstances of a write. */
export interface WriteContext {
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The client's version. */
  readonly apiVersion: string;
  /** The user who writes. Undefined if the server itself writes. */
  readonly user?: UserInfo;
  /** Time of the write in milliseconds. */
  readonly now: number;
  /** Determines which fields kinds keep, drop and validate. */
  readonly features: FeatureGates;
  /** The draft being written; `next` is its object. */
  readonly draft: Draft;
}

/**
 * Behaviour that data cannot express. Most kinds have none. Objects are in the storage version unless noted otherwise.
 */
export interface ResourceHooks {
  /**
   * Upstream's `SetDefaults_*`: sets defaults in the client's version. Called for every decoded body. `now` is in
   * milliseconds. May change `object`.
   */
  setDefaults?(object: KubeObject, apiVersion: string, context: DefaultsContext): void;
  /**
   * Upstream's `PrepareForCreate` and `PrepareForUpdate`: sets or clears fields before validation. May change `next`.
   */
  prepare?(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): void;
  /**
   * Upstream's `Validate` and `ValidateUpdate`: returns errors in kube-apiserver's order. Metadata has already been
   * validated.
   */
  validate?(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): FieldError[];
  /** Upstream's `WarningsOnCreate` and `WarningsOnUpdate`: returns texts for Warning headers. */
  warn?(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): string[];
  /** Grace period of a deletion in seconds. If present, the kind is deleted gracefully. */
  gracePeriodSeconds?(object: KubeObject, requested: number | undefined): number;
  /** Whether something besides metadata.finalizers blocks the deletion of an object. */
  isHeld?(object: KubeObject): boolean;
  /** Marks the object as being deleted. May change `object`. */
  markDeleted?(object: KubeObject): void;
  /**
   * Makes the first DELETE only mark the object, regardless of its options: adds what blocks its removal until the
   * deletion is complete. `now` is in milliseconds. May change `object`.
   */
  beginDeletion?(object: KubeObject, now: number): void;
  /**
   * Converts an object to another version. Optional. If omitted, versions differ in apiVersion only. `stored`: the
   * object that a write replaces; fields that the object's version does not have are taken from it.
   */
  convert?(object: KubeObject, toApiVersion: string, stored?: KubeObject): KubeObject;
  /**
   * Used instead of `convert`: converts many objects asynchronously, like a conversion webhook, and returns them in the
   * same order. Takes ownership of the objects. If it throws an ApiError, the client receives that.
   */
  convertBatch?(objects: readonly KubeObject[], toApiVersion: string): Promise<readonly KubeObject[]>;
}

/** Names of a kind's actions in `Actions`. */
export interface ActionNames {
  /** Action of a create. Only for kinds that are not stored. */
  readonly create?: string;
  /** Action that allocates shared resources for a write. */
  readonly reserve?: string;
  /** Action that computes the objects. Only for kinds that are not stored. */
  readonly compute?: string;
}

/** The current state of a custom kind. It may change while the definition stays the same. */
export interface KindPresence {
  /** Discovery and OpenAPI include the kind. */
  readonly isEstablished: boolean;
  /** When the kind became established, in milliseconds since the epoch. */
  readonly establishedMs: number;
  /** Other servers on the same store serve the kind, too. */
  readonly isShared: boolean;
  /** The kind is about to be removed; creates are rejected. */
  readonly isTerminating: boolean;
}

/** Everything generic code needs to know about a kind, built-in or custom. */
export interface ResourceDefinition {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  /** In a cluster, an extension server that users install serves the group. Its APIService is created once and never changed. */
  readonly isAddOn?: true;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs: readonly Verb[];
  /**
   * How bodies are decoded. "typed": by a Go type (built-in kinds); "structural": by a structural schema (custom
   * resources); "open": without a schema. See `resources/strategies/`.
   */
  readonly reading: "typed" | "structural" | "open";
  /** Served versions, preferred first. */
  readonly versions: readonly ServedVersion[];
  /** Versions that are not served. Objects may be stored in them, and managedFields may refer to them. */
  readonly unservedVersions?: readonly ServedVersion[];
  /** The storage version, and the group if it differs. Optional. If omitted, objects are not stored. */
  readonly storage?: {
    readonly version: string;
    readonly group?: string;
    /** Key prefix of the objects below the store's prefix, e.g. "services/specs". */
    readonly prefix: string;
    /** Storage version hash in discovery. */
    readonly hash: string;
  };
  readonly subresources: Readonly<Record<string, Subresource>>;
  readonly rules: ResourceRules;
  /** Optional. If omitted, the kind is always served. */
  readonly presence?: KindPresence;
  readonly actions?: ActionNames;
  readonly hooks?: ResourceHooks;
}
