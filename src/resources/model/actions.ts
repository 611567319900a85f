import type { Identities } from "../../base/api/identity.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { Status } from "../../base/api/status.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { ObjectAccess, WriteContext } from "./definition.ts";
import type { ObjectKey } from "./keys.ts";

/**
 * A create that runs an action instead of storing an object: on a subresource (binding, eviction, token), or of a kind
 * that is not stored.
 */
export interface ActionCall {
  readonly access: ObjectAccess;
  /** The object named by the path, or for kinds that are not stored, by the body. */
  readonly key: ObjectKey;
  readonly body: KubeObject;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  readonly identities: Identities;
  /** Adds a `Warning` header to the response. */
  warn(text: string): void;
  /** Adds an annotation to the audit event. Optional. If omitted, the request is not audited. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
}

/** A write that may need shared resources such as addresses or ports. */
export interface ReservingWrite {
  readonly next: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
  readonly context: WriteContext;
  /** The object name in the request path. Empty for a POST, even if the object has a name. */
  readonly requestName: string;
  readonly dryRun: boolean;
}

/** Shared resources that a write has allocated but not committed. */
export interface Reservation {
  /** Call after the write has succeeded. */
  commit(): Promise<void>;
  /** Call if the write has failed. */
  release(): Promise<void>;
}

/** Runs a create. Returns an object or a Status. */
export type CreateAction = (call: ActionCall) => Promise<KubeObject | Status>;

/**
 * Allocates shared resources (addresses, ports) for a write. Without `next`, the object is deleted. Called before
 * preparation and validation; may change `next`, and may reject the write by throwing. The result releases the
 * resources if the write fails. A dry run must not allocate. Undefined if there is nothing to allocate or release.
 */
export type ReserveAction = (write: ReservingWrite, access: ObjectAccess) => Promise<Reservation | undefined>;

/** The objects of a computed kind that a request is about. */
export interface ComputedSelection {
  /** Empty for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string;
  /** The only name that is needed. Empty: all names. */
  readonly name: string;
  /** Whether the request selects objects with this metadata. Objects that it does not select need not be computed. */
  selects(object: KubeObject): boolean;
}

/** Computes the objects of a kind that is not stored, for each request. May return more than the selection. */
export type ComputeAction = (access: ObjectAccess, selection: ComputedSelection) => Promise<readonly KubeObject[]>;

/** Functions that kinds use besides storage, by the names in their definitions. */
export interface Actions {
  readonly create: Readonly<Record<string, CreateAction>>;
  readonly reserve: Readonly<Record<string, ReserveAction>>;
  readonly compute: Readonly<Record<string, ComputeAction>>;
}

/** For kinds without actions. */
export const NO_ACTIONS: Actions = { create: {}, reserve: {}, compute: {} };

/** Returns the action of a name. Throws if it is not registered. */
export function findAction<T>(actions: Readonly<Record<string, T>>, name: string): T {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) throw new Error(`no action named ${name}`);
  return action;
}
