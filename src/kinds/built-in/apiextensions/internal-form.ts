import type {
  DefinitionSpec,
  DefinitionSubresources,
  DefinitionVersion,
  JsonSchemaProps,
  PrinterColumn,
} from "../../types/custom-resource-definition.ts";
import { sameValue } from "../shared-rules/immutable.ts";

/** Parts that a version may have, or all versions share. */
export interface VersionParts {
  readonly schema?: { readonly openAPIV3Schema?: JsonSchemaProps };
  readonly subresources?: DefinitionSubresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

/**
 * The spec as kube-apiserver validates it: parts that are the same in all versions are next to the list of versions.
 */
export interface InternalSpec {
  readonly versions: readonly DefinitionVersion[];
  readonly shared: VersionParts;
}

const PARTS = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

/**
 * Compat: `Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec`. Field errors have
 * paths such as `spec.validation` and `spec.subresources` for parts that all versions share.
 */
export function internalForm({ versions = [] }: DefinitionSpec): InternalSpec {
  const [first] = versions;
  const shared: Record<string, unknown> = {};
  if (!first) return { versions, shared };
  const common = PARTS.filter((part) => versions.every((version) => sameValue(version[part], first[part])));
  for (const part of common) if (first[part] !== undefined) shared[part] = first[part];
  return {
    shared,
    versions: versions.map((version) => {
      const own = { ...version };
      for (const part of common) delete own[part];
      return own;
    }),
  };
}
