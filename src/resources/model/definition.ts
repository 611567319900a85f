import type { FeatureGates } from "../../api/feature-gates.ts";
import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { TableShape } from "../../api/reply.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Random } from "../../lib/random.ts";
import type { Schema } from "../../schema/schema.ts";
import type { Draft } from "./draft.ts";
import type { ObjectKey } from "./keys.ts";
import type { DeletionRequest, Preconditions } from "./write-request.ts";

/** What may be done with a resource, in Kubernetes' words. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** Which names the objects of a kind may have; `api/names.ts` holds the rule of each. */
export type NameRule =
  | "dns1123Subdomain"
  | "dns1123Label"
  | "pathSegment"
  | "configMapKey"
  | "canonicalIP"
  /** The kind's own validate hook decides. */
  | "own";

/** Deprecation of a version: every request to it is answered with a Warning header. */
export interface Deprecation {
  /** Release since which the version is deprecated, e.g. "1.37". Absent: `message` says everything. */
  readonly since?: string;
  /** The whole text of the Warning. */
  readonly message?: string;
  /** First release that no longer serves it. */
  readonly removed?: string;
  /** apiVersion and kind to use instead, e.g. "certificates.k8s.io/v1 ClusterTrustBundle". */
  readonly replacement?: string;
}

/** A field that a field selector may name, and how its value is read from an object of this version. */
export interface SelectableField {
  readonly name: string;
  readonly value: (object: KubeObject) => string;
}

/** One version of a kind under which clients read and write it. */
export interface ServedVersion {
  readonly name: string;
  /** The shape of the kind in this version. Loaded at first need. */
  readonly schema: () => Schema;
  /** The same for whoever looks at all kinds once, as OpenAPI does: it is not kept if it was not. Absent: `schema`. */
  readonly schemaForOnce?: () => Schema;
  /** Name of the shape in published OpenAPI documents, e.g. "io.k8s.api.core.v1.Pod". */
  readonly schemaName: string;
  readonly table?: TableShape;
  /** Fields besides metadata.name and metadata.namespace. */
  readonly selectableFields?: readonly SelectableField[];
  readonly deprecation?: Deprecation;
  /** Overrides the rule of the definition for this version. */
  readonly requiresResourceVersion?: boolean;
  /** Overrides the rule of the definition for this version. */
  readonly deleteReturnsObject?: boolean;
  /** Overrides the subresources of the definition for this version. */
  readonly subresources?: Readonly<Record<string, Subresource>>;
  /** Lists and watches of this version take no `shardSelector`. */
  readonly noShardSelector?: boolean;
}

/** How hooks and subresources that need other objects reach them. */
export interface ObjectAccess {
  /**
   * One object as it is stored, or undefined. A state that is a little old will do, unless "newest" is asked for. What
   * is found or listed is shared with other readers and must not be changed.
   */
  find(group: string, plural: string, key: ObjectKey, freshness?: "newest" | "any"): Promise<KubeObject | undefined>;
  /**
   * All objects of a kind in a namespace, or everywhere when that is empty. With "any", a state that is a little old
   * will do.
   */
  list(group: string, plural: string, namespace: string, freshness?: "newest" | "any"): Promise<KubeObject[]>;
  /** Creates an object with its defaults, owned by the server as field manager. Throws AlreadyExists and Invalid. */
  create(group: string, plural: string, object: KubeObject): Promise<KubeObject>;
  /** Changes one object; `change` is called again when another writer was faster. Throws NotFound. */
  update(
    group: string,
    plural: string,
    key: ObjectKey,
    change: (current: KubeObject) => KubeObject,
    options?: ChangeOptions,
  ): Promise<KubeObject>;
  /** Throws NotFound and, when the preconditions do not hold, Conflict. */
  delete(
    group: string,
    plural: string,
    key: ObjectKey,
    request?: DeletionRequest & { readonly preconditions?: Preconditions; readonly dryRun?: boolean },
  ): Promise<void>;
  /** A record that is no object of any kind, such as a map of what is taken; `place` is below the store's prefix. */
  findRecord(place: string): Promise<KubeObject | undefined>;
  /**
   * Changes such a record. `change` gets undefined when there is none, and is called again when another writer was
   * faster; undefined from it leaves the record as it is.
   */
  changeRecord(place: string, change: (current: KubeObject | undefined) => KubeObject | undefined): Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** How hooks and subresources change objects. */
export interface ChangeOptions {
  /** The change goes through this subresource. One that acts may change everything but the generation. */
  readonly subresource?: string;
  /** What must be true of the stored object. */
  readonly preconditions?: Preconditions;
  readonly dryRun?: boolean;
}

/** Where a kind keeps its replicas, as paths such as ".spec.replicas". */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Where the selector is; its text is shown. */
  readonly selector?: string;
}

/** The kind that a subresource speaks when that is not the object's own, e.g. Scale of autoscaling/v1. */
export interface SubresourceKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Versions of the same shape that bodies may have instead. */
  readonly otherVersions?: readonly string[];
  /** The shape of bodies of this kind. Loaded at first need. */
  readonly schema?: () => Schema;
  readonly table?: TableShape;
  readonly hooks?: Pick<ResourceHooks, "setDefaults">;
}

/** A path below an object, such as `status`. */
export interface Subresource {
  readonly verbs: readonly Verb[];
  readonly kind?: SubresourceKind;
  /**
   * What a write through it may change: the status, everything but the status ("object": the kind's own rules tell the
   * difference), or exactly the members at these paths. Absent: this subresource has a handler of its own.
   */
  readonly writes?: "status" | "object" | readonly string[];
  /**
   * Upstream's `GetResetFields`: what nobody owns by writing through it, where that is not the common rest: "spec",
   * "status.conditions".
   */
  readonly resets?: readonly string[];
  /** The subresource is a Scale of autoscaling/v1. */
  readonly scale?: ScalePaths;
  /** The name of the action that a create on it carries out. */
  readonly action?: string;
  /** What is sent to it, or answered by it, is a secret: no log may have it. */
  readonly isSecret?: boolean;
  /** A stream to a node, pod or service rather than a read or write of the object: it has no deadline. */
  readonly connect?: boolean;
}

/** Rules that differ between kinds. An absent member means the common rule. */
export interface ResourceRules {
  /** "counted": generation starts at 1 and grows with the spec. "fixed": it stays 1. Common: no generation. */
  readonly generation?: "counted" | "fixed";
  /** Generation grows also when a client sends an empty list or map, although the object stays as it is. */
  readonly countsEmpties?: boolean;
  /** What its objects hold is a secret: no log may have them. */
  readonly isSecret?: boolean;
  /** Common: dns1123Subdomain. */
  readonly nameRule?: NameRule;
  /** An object without `metadata.name` is given a UUID for one. */
  readonly namedByUuid?: boolean;
  /** Upstream's `AllowCreateOnUpdate`: PUT of an object that does not exist creates it. */
  readonly createsOnUpdate?: boolean;
  /** Upstream's `AllowUnconditionalUpdate` is false: PUT without a resourceVersion is refused. */
  readonly requiresResourceVersion?: boolean;
  /** Upstream's `ReturnDeletedObject`: DELETE answers with the last state of the object instead of a Status. */
  readonly deleteReturnsObject?: boolean;
  /**
   * Upstream's `DefaultGarbageCollectionPolicy`: what happens to dependents when DELETE has no propagationPolicy.
   * "unsupported": never any finalizer for them.
   */
  readonly garbageCollection?: "delete" | "orphan" | "unsupported";
  /** The Warning for a DELETE without propagationPolicy, where dependents are orphaned. */
  readonly orphanWarning?: string;
  /** Create keeps the status that the client sent. */
  readonly createKeepsStatus?: boolean;
  /** A status write leaves labels, annotations and other metadata as stored, or just these members of it. */
  readonly statusKeepsMetadata?: boolean | readonly string[];
  /**
   * Upstream's `GetResetFields`: what nobody owns by writing the object itself. Common: the status, where it has a
   * subresource of its own.
   */
  readonly resets?: readonly string[];
  /** What is wrong with the metadata of a new object is told only when nothing else is wrong. */
  readonly metadataLast?: boolean;
  /** Objects of this kind may stand in no ownerReference. */
  readonly cannotOwn?: boolean;
  /** Finalizers need not be standard or qualified names. */
  readonly freeFinalizers?: boolean;
  /** Seconds after which an object of this kind is deleted, counted from its last write. */
  readonly ttlSeconds?: number;
  /**
   * Message of the 400 for a field selector that is not supported; `%s` stands for the field, `%v` for the apiVersion.
   * Common: the generic text.
   */
  readonly unknownFieldMessage?: string;
}

/** What defaults may depend on besides the object. */
export interface DefaultsContext {
  readonly clock: Clock;
  readonly features: FeatureGates;
}

/** By which way a write came, and who writes. */
export interface WriteContext {
  /** Empty: the object itself. */
  readonly subresource: string;
  /** The version that the client spoke. */
  readonly apiVersion: string;
  /** Who writes; undefined when the server itself does. */
  readonly user?: UserInfo;
  /** The moment of the write in milliseconds. */
  readonly now: number;
  /** Kinds keep, drop and validate fields by the feature gates that are on. */
  readonly features: FeatureGates;
  /** The object with what else is known about this write; `next` is its object. */
  readonly draft: Draft;
}

/** Behaviour that data cannot express. Most kinds have none. Objects are in the storage version unless said otherwise. */
export interface ResourceHooks {
  /**
   * Upstream's `SetDefaults_*`: fills in what a client left out, in the client's version; runs on every decoded body.
   * `now` is in milliseconds. May change `object`.
   */
  setDefaults?(object: KubeObject, apiVersion: string, context: DefaultsContext): void;
  /**
   * Upstream's `PrepareForCreate` and `PrepareForUpdate`: fills or wipes fields before validation. May change `next`.
   */
  prepare?(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): void;
  /**
   * Upstream's `Validate` and `ValidateUpdate`: what is wrong, in the order kube-apiserver finds it; metadata has been
   * looked at already.
   */
  validate?(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): FieldError[];
  /** Upstream's `WarningsOnCreate` and `WarningsOnUpdate`: texts for Warning headers. */
  warn?(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): string[];
  /** How long a deleted object stays before it goes, in seconds. Present: the kind is deleted gracefully. */
  gracePeriodSeconds?(object: KubeObject, requested: number | undefined): number;
  /** Whether something besides metadata.finalizers still holds an object that is being deleted. */
  isHeld?(object: KubeObject): boolean;
  /** Shows in the object that its deletion has begun. May change `object`. */
  markDeleted?(object: KubeObject): void;
  /**
   * The first DELETE only marks the object, whatever it asks for: adds what holds it until its deletion is complete. `now`
   * is in milliseconds. May change `object`.
   */
  beginDeletion?(object: KubeObject, now: number): void;
  /**
   * Changes an object from one version to another. Absent: versions differ in apiVersion only. `stored` is what a write
   * replaces; what the object's version has no words for is kept from there.
   */
  convert?(object: KubeObject, toApiVersion: string, stored?: KubeObject): KubeObject;
  /**
   * Instead of `convert`: changes many objects at once and answers later, as a conversion webhook does; in the same
   * order. Owns the objects. An ApiError from it is what the client gets.
   */
  convertBatch?(objects: readonly KubeObject[], toApiVersion: string): Promise<readonly KubeObject[]>;
}

/** What a kind does besides being stored, by the names that `Actions` has for it. */
export interface ActionNames {
  /** What a create does. Only for kinds of which nothing is stored. */
  readonly create?: string;
  /** What a write takes from what all objects share. */
  readonly reserve?: string;
  /** Where the objects come from when somebody asks for them. Only for kinds of which nothing is stored. */
  readonly compute?: string;
}

/** What is true of a custom kind at the moment. It may change while the definition of the kind stays the same. */
export interface KindPresence {
  /** Discovery and OpenAPI tell of it. */
  readonly isEstablished: boolean;
  /** When it became so, in milliseconds since the epoch. */
  readonly establishedMs: number;
  /** Other servers on the same store serve it, too. */
  readonly isShared: boolean;
  /** It is about to go: nothing is created any more. */
  readonly isTerminating: boolean;
}

/** Everything generic code needs to know about a kind. Built-in rows and custom definitions are both this. */
export interface ResourceDefinition {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs: readonly Verb[];
  /**
   * How bodies become objects. "typed": by a Go type (built-in kinds); "structural": by a structural schema (custom
   * resources); "open": without any schema. `resources/strategies/` says what follows from it.
   */
  readonly reading: "typed" | "structural" | "open";
  /** Served versions, preferred first. */
  readonly versions: readonly ServedVersion[];
  /** Versions that are not served: objects may be stored in them, and managedFields speak them. */
  readonly unservedVersions?: readonly ServedVersion[];
  /** The version objects are stored in, and the group when it is not the definition's own. Absent: nothing is stored. */
  readonly storage?: {
    readonly version: string;
    readonly group?: string;
    /** Where objects live below the store's prefix, e.g. "services/specs". */
    readonly prefix: string;
    /** Published in discovery; identifies the stored form. */
    readonly hash: string;
  };
  readonly subresources: Readonly<Record<string, Subresource>>;
  readonly rules: ResourceRules;
  /** Absent: the kind is always there. */
  readonly presence?: KindPresence;
  readonly actions?: ActionNames;
  readonly hooks?: ResourceHooks;
}
