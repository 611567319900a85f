import type { AdmissionChain } from "../admission/chain.ts";
import type { Call } from "../api/call.ts";
import type { Identities } from "../api/identity.ts";
import { apiVersionOf, type KubeObject } from "../api/object.ts";
import type { ApiReply } from "../api/reply.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import type { SubresourceKind } from "../resources/model/definition.ts";
import type { Resources } from "../resources/resources.ts";
import type { Collection } from "../resources/write/collection.ts";
import type { Schema } from "../schema/schema.ts";

/** Through which single objects are read and changed: the objects of a kind, or a view of them. */
export type ObjectAccessPoint = Pick<Collection, "get" | "update">;

/** What a resource request is aimed at, once its path is understood. */
export interface Target {
  readonly resource: ServedResource;
  readonly collection: ObjectAccessPoint;
  /** Empty: none, or all. */
  readonly namespace: string;
  /** Empty: the whole collection. */
  readonly name: string;
  /** Empty: the object itself. */
  readonly subresource: string;
  /** The resource of the path, where `resource` is what its subresource speaks. */
  readonly parent?: ServedResource;
  /** Other apiVersions of the same shape that bodies may have. */
  readonly otherApiVersions?: readonly string[];
}

/** A target whose objects can come and go, too. */
export interface CollectionTarget extends Target {
  readonly collection: Collection;
}

/** The kind that a subresource speaks, as if it were served in the place of its parent. */
export function inPlaceOf(
  parent: ServedResource,
  { group, version, kind, schema, table, hooks }: SubresourceKind,
): ServedResource {
  const served = { name: version, schema: schema ?? (() => ({ type: "object" })), schemaName: "", table } as const;
  const { plural, singular, scope } = parent.definition;
  const definition = {
    group,
    kind,
    listKind: "",
    plural,
    singular,
    shortNames: [],
    categories: [],
    scope,
    verbs: [],
    reading: "typed",
    versions: [served],
    subresources: {},
    rules: {},
    hooks,
  } as const;
  const { withdrawn } = parent;
  return { definition, version: served, apiVersion: apiVersionOf(group, version), subresources: {}, withdrawn };
}

/** What a list has looked at. */
export interface ListFacts {
  /** Objects that were read. */
  readonly fetched: number;
  /** Those that selectors were compared with. */
  readonly evaluated: number;
  readonly returned: number;
}

/** Hears what verbs do. */
export interface VerbObserver {
  listed(resource: ServedResource, facts: ListFacts): void;
  /** Gives who hears the sizes, in bytes, of the events that a watch sends. */
  watched(resource: ServedResource): (sizes: readonly number[]) => void;
}

/** Finds resources that nobody defined, where these are served. */
export interface OpenResources {
  /** What the path of a call is about; `served` is what the catalog has for it. Undefined: nothing. */
  find(
    call: Call,
    served: ServedResource | undefined,
  ): Promise<{ readonly resource: ServedResource; readonly created?: (() => Promise<void>) | undefined } | undefined>;
}

/** A request that is to be connected with what is behind an object. */
export interface Connection {
  /** What the request asks for, which admission judges: upstream's `NewConnectOptions`. Undefined: it is only a read. */
  readonly options: KubeObject | undefined;
  open(): Promise<ApiReply>;
}

/** Connects requests with nodes, and with the programs behind other objects. */
export interface Connector {
  /** Reads the options of a request. Throws BadRequest. */
  prepare(call: Call, target: Target): Connection;
}

/** What verbs work with. */
export interface VerbContext {
  /** Absent: no subresource connects. */
  readonly connector?: Connector | undefined;
  readonly observer?: VerbObserver;
  readonly resources: Resources;
  readonly admission: Pick<AdmissionChain, "mutate" | "validate">;
  /** Absent: only what is defined is served. */
  readonly open?: OpenResources | undefined;
  /** For kinds that are questions about callers. */
  readonly identities: Identities;
  /** The shape of the options that a DELETE may carry. */
  deleteOptionsSchema(): Schema;
}
