import { isExactInteger, type JsonNumber } from "../util/exact-integer.ts";

/** Any JSON value. */
export type Json = null | boolean | JsonNumber | string | Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  [member: string]: Json | undefined;
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The metadata of every stored object. Members are omitted rather than empty. */
export interface ObjectMeta extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: Json[];
}

/** One object of any kind, as plain JSON. */
export interface KubeObject extends JsonObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
}

/** The metadata of a list. */
export interface ListMeta extends JsonObject {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
  shardInfo?: { selector: string };
}

/** Whether a value is a JSON object: not null, not an array, and not an exact integer. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactInteger(value);
}

/** `group/version`, or the bare version for the core group. */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The group of `group/version`; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const at = apiVersion.indexOf("/");
  return at < 0 ? "" : apiVersion.slice(0, at);
}

/** The URL path of a group version. */
export function groupVersionPath(apiVersion: string): string {
  return groupOf(apiVersion) === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
}
