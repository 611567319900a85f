import type { AdmissionChain } from "../../access/admission/chain.ts";
import type { Call } from "../../base/api/call.ts";
import type { Identities } from "../../base/api/identity.ts";
import { apiVersionOf, type KubeObject } from "../../base/api/object.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Schema } from "../../data/schema/schema.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { SubresourceKind } from "../../resources/model/definition.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Collection } from "../../resources/write/collection.ts";

/** Access to single objects: those of a kind, or a view of them such as scales. */
export type ObjectAccessPoint = Pick<Collection, "get" | "update">;

/** What a resource request addresses, derived from its path. */
export interface Target {
  readonly resource: ServedResource;
  readonly collection: ObjectAccessPoint;
  /** Empty for cluster-scoped resources and requests across all namespaces. */
  readonly namespace: string;
  /** Empty for the whole collection. */
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The resource of the path, if `resource` is the kind of a subresource. */
  readonly parent?: ServedResource;
  /** Other apiVersions that bodies may have, with the same schema. */
  readonly otherApiVersions?: readonly string[];
}

/** A target whose objects can also be created and deleted. */
export interface CollectionTarget extends Target {
  readonly collection: Collection;
}

/** Wraps the kind of a subresource as if it were served in place of its parent. */
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

/** Object counts of a list request. */
export interface ListFacts {
  /** Objects read. */
  readonly fetched: number;
  /** Objects compared with the selectors. */
  readonly evaluated: number;
  readonly returned: number;
}

/** Receives statistics from verbs, for metrics. */
export interface VerbObserver {
  listed(resource: ServedResource, facts: ListFacts): void;
  /** Returns a function that receives the sizes in bytes of the events that a watch sends. */
  watched(resource: ServedResource): (sizes: readonly number[]) => void;
}

/** Finds resources without a definition, if the server serves these. */
export interface OpenResources {
  /** Returns the resource of a call. `served` is the catalog's entry, if any. Undefined: not found. */
  find(
    call: Call,
    served: ServedResource | undefined,
  ): Promise<{ readonly resource: ServedResource; readonly created?: (() => Promise<void>) | undefined } | undefined>;
}

/** A request to be connected to the kubelet, pod or service behind an object. */
export interface Connection {
  /**
   * The request options that admission checks (upstream's `NewConnectOptions`). Undefined: a read without admission.
   */
  readonly options: KubeObject | undefined;
  open(): Promise<ApiReply>;
}

/** Connects requests to kubelets, pods and services. */
export interface Connector {
  /** Parses the options of a request. Throws BadRequest. */
  prepare(call: Call, target: Target): Connection;
}

/** Dependencies of the verbs. */
export interface VerbContext {
  /** Optional. If omitted, connecting subresources are not served. */
  readonly connector?: Connector | undefined;
  readonly observer?: VerbObserver;
  readonly resources: Resources;
  readonly admission: Pick<AdmissionChain, "mutate" | "validate">;
  /** Optional. If omitted, only defined resources are served. */
  readonly open?: OpenResources | undefined;
  /** Authenticates and authorizes, for review kinds such as TokenReview. */
  readonly identities: Identities;
  /** Seconds after which a watch without timeoutSeconds may end. 0: it does not end. */
  readonly minRequestTimeout: number;
  /** Schema of DeleteOptions in the body of a DELETE. */
  deleteOptionsSchema(): Schema;
}
