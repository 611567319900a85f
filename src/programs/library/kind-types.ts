import type { ObjectMeta, OwnerReference } from "../../base/api/object.ts";

/** An object of a kind. The types of spec and status are derived from the schemas. */
export interface KindObject<Spec, Status> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** The metadata of an object that the server returned. */
export interface StoredMeta extends ObjectMeta {
  name: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
}

/** An object of a kind that the server returned: it has a name, a uid and a resourceVersion. */
export interface StoredObject<Spec, Status> extends KindObject<Spec, Status> {
  readonly metadata: StoredMeta;
}

/** The metadata that clients may send. */
export interface MetaInput {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** The metadata of a new object: it has a name, or the server generates one that starts with `generateName`. */
export type NewMeta = MetaInput & ({ readonly name: string } | { readonly generateName: string });

/** A new object of a kind: members with a default are optional, and the client sets apiVersion and kind. */
export interface KindInput<Spec> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: NewMeta;
  readonly spec: Spec;
}

/** An object of a kind whose type is not known. */
export interface UntypedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: StoredMeta;
  [member: string]: unknown;
}

/** A new object of a kind whose type is not known. */
export interface UntypedInput {
  readonly metadata: NewMeta;
  readonly [member: string]: unknown;
}

/**
 * Names a kind. The results of `defineKind` do, with the types of their objects. For other kinds write
 * `{ apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" }`; their objects are untyped.
 */
export interface KindReference<Item = UntypedObject, Input = UntypedInput> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Default: Namespaced. */
  readonly scope?: "Namespaced" | "Cluster";
  /** Only a type, never a value. */
  readonly Object?: Item;
  /** Only a type, never a value. */
  readonly Input?: Input;
}
