import type { JsonObject, KubeObject } from "../../api/object.ts";
import type { Schema } from "../../schema/schema.ts";
import type { FieldFilter } from "./reset-fields.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { TypedError, typedValue, VersionError } from "./typed.ts";
import { requireShape } from "./validate.ts";

/** What tracking needs to know of the endpoint that a write came through. */
export interface TrackingScope {
  /** The version of the endpoint. Objects are given and answered in it. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent or "" for the object itself, otherwise e.g. "status". */
  readonly subresource?: string;
  /** The schema of the kind in one of its versions; undefined when that version is not known. */
  readonly schemaOf: (apiVersion: string) => Schema | undefined;
  /** The same object in another version; undefined when that version is not known. Must not change the given one. */
  readonly convert: (object: KubeObject, toApiVersion: string) => KubeObject | undefined;
  /**
   * The kind has no type behind it, only a schema: conversion leaves zeros and nulls alone, and an empty list of managed
   * fields from a client is the same as none.
   */
  readonly isUnstructured?: boolean;
  /** An unknown version of a manager is an error, as for kinds that CustomResourceDefinitions define; else its fields are forgotten. */
  readonly refusesUnknownVersions?: boolean;
  /**
   * Upstream's `GetResetFields`: what this endpoint may not change in a version, so that nobody owns it through here.
   */
  readonly resetFields?: (apiVersion: string) => FieldFilter | undefined;
}

/** An object in one version with the shape of its kind there. */
export interface Versioned {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly shape: Shape;
}

/** The shape of the scope's own version. A kind without a schema there is a mistake of the caller. */
export function requireShapeOf(scope: TrackingScope): Shape {
  const schema = scope.schemaOf(scope.apiVersion);
  if (schema === undefined) throw new Error(`no schema for ${scope.kind} in ${scope.apiVersion}`);
  return shapeOf(schema);
}

/** The shape of the kind in a version, undefined when that version is not known. */
export function shapeIn(scope: TrackingScope, apiVersion: string): Shape | undefined {
  const schema = scope.schemaOf(apiVersion);
  return schema === undefined ? undefined : shapeOf(schema);
}

/**
 * The value in another version, as its typed original if the kind has one; undefined when that version is not known.
 * Throws VersionError with `failure` in front when an object without a Go type does not fit the schema there: a converter
 * may leave what that version does not know.
 */
export function convertTo(
  scope: TrackingScope,
  value: Versioned,
  apiVersion: string,
  failure = "",
): Versioned | undefined {
  if (value.apiVersion === apiVersion) return value;
  const shape = shapeIn(scope, apiVersion);
  if (shape === undefined) return undefined;
  const typed = (shape: Shape, object: JsonObject): KubeObject =>
    (scope.isUnstructured === true ? object : typedValue(shape, object)) as KubeObject;
  const converted = scope.convert(typed(value.shape, value.object), apiVersion);
  if (converted === undefined) return undefined;
  if (scope.isUnstructured === true) requireVersion(shape, converted, failure);
  return { object: typed(shape, converted), apiVersion, shape };
}

function requireVersion(shape: Shape, object: KubeObject, failure: string): void {
  try {
    requireShape(shape, object, true);
  } catch (error) {
    if (error instanceof TypedError) throw new VersionError(`${failure}${error.message}`);
    throw error;
  }
}

/** A copy of the object without its managed fields, which are not tracked; members are shared. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
