import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Schema } from "../../schema/schema.ts";
import type { FieldFilter } from "./reset-fields.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { TypedError, typedValue, VersionError } from "./typed.ts";
import { requireShape } from "./validate.ts";

/** The endpoint of a tracked write. */
export interface TrackingScope {
  /** The version of the endpoint, in which objects are passed and returned. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Omitted or "" for the object itself, otherwise e.g. "status". */
  readonly subresource?: string;
  /** The schema of the kind in one of its versions. Undefined if the version is unknown. */
  readonly schemaOf: (apiVersion: string) => Schema | undefined;
  /** Converts the object to another version. Undefined if the version is unknown. Must not modify the object. */
  readonly convert: (object: KubeObject, toApiVersion: string) => KubeObject | undefined;
  /**
   * The kind has only a schema and no Go type: conversion keeps zeros and nulls, and an empty list of managed fields
   * from a client is the same as none.
   */
  readonly isUnstructured?: boolean;
  /** An unknown version of a manager is an error, as for custom resources. Otherwise its fields are dropped. */
  readonly refusesUnknownVersions?: boolean;
  /**
   * Upstream's `GetResetFields`: the fields that this endpoint may not change in a version, so that they are not owned
   * through it.
   */
  readonly resetFields?: (apiVersion: string) => FieldFilter | undefined;
}

/** An object in one version with its shape. */
export interface Versioned {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly shape: Shape;
}

/** The shape in the version of the scope. Throws if there is no schema, which is a bug of the caller. */
export function requireShapeOf(scope: TrackingScope): Shape {
  const schema = scope.schemaOf(scope.apiVersion);
  if (schema === undefined) throw new Error(`no schema for ${scope.kind} in ${scope.apiVersion}`);
  return shapeOf(schema);
}

/** The shape of the kind in a version. Undefined if the version is unknown. */
export function shapeIn(scope: TrackingScope, apiVersion: string): Shape | undefined {
  const schema = scope.schemaOf(apiVersion);
  return schema === undefined ? undefined : shapeOf(schema);
}

/**
 * Converts a value to another version, decoded by its Go type if it has one. Undefined if the version is unknown.
 * Throws VersionError with the prefix `failure` if an object without a Go type does not match the schema there: a
 * converter may leave fields that the version does not have.
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

/** A shallow copy of the object without its managed fields, which are not tracked. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
