import type { Identities } from "../../api/identity.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Status } from "../../api/status.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { ObjectAccess, WriteContext } from "./definition.ts";
import type { ObjectKey } from "./keys.ts";

/**
 * A create that is an action rather than a new object: on a subresource (binding, eviction, a token), or of a kind of
 * which nothing is stored.
 */
export interface ActionCall {
  readonly access: ObjectAccess;
  /** The object that the path names; for kinds of which nothing is stored, the one that the body does. */
  readonly key: ObjectKey;
  readonly body: KubeObject;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  readonly identities: Identities;
  /** The client gets the text in a `Warning` header. */
  warn(text: string): void;
  /** Adds an annotation to the audit event. Absent: nobody keeps any. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
}

/** A write that may need something from what all objects share. */
export interface ReservingWrite {
  readonly next: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
  readonly context: WriteContext;
  /** The name in the path of the request; empty for a POST, whose object has one all the same. */
  readonly requestName: string;
  readonly dryRun: boolean;
}

/** What a write has taken and not yet kept. */
export interface Reservation {
  /** The write happened. */
  commit(): Promise<void>;
  /** It did not. */
  release(): Promise<void>;
}

/** Carries out a create. The answer is an object, or a Status. */
export type CreateAction = (call: ActionCall) => Promise<KubeObject | Status>;

/**
 * Takes from what all objects share (addresses, ports) what this write needs; without `next` the object goes. Called
 * before preparation and validation, may change `next` and refuse by throwing. What it took is given back by the
 * result when the write does not happen; a dry run must take nothing. Undefined: there is nothing to take or give.
 */
export type ReserveAction = (write: ReservingWrite, access: ObjectAccess) => Promise<Reservation | undefined>;

/** Makes the objects of a kind that is not stored, whenever somebody asks for them. */
export type ComputeAction = (access: ObjectAccess) => Promise<readonly KubeObject[]>;

/** What kinds do besides being stored: functions by the names that definitions have for them. */
export interface Actions {
  readonly create: Readonly<Record<string, CreateAction>>;
  readonly reserve: Readonly<Record<string, ReserveAction>>;
  readonly compute: Readonly<Record<string, ComputeAction>>;
}

/** For kinds that are only stored. */
export const NO_ACTIONS: Actions = { create: {}, reserve: {}, compute: {} };

/** The action of that name. Throws when there is none: a definition names it wrongly, or nobody has given it. */
export function findAction<T>(actions: Readonly<Record<string, T>>, name: string): T {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) throw new Error(`no action named ${name}`);
  return action;
}
