import type {
  DefinitionSpec,
  DefinitionSubresources,
  DefinitionVersion,
  JsonSchemaProps,
  PrinterColumn,
} from "../../types/custom-resource-definition.ts";
import { sameValue } from "../rules/immutable.ts";

/** What a version may have of its own, or all versions together. */
export interface VersionParts {
  readonly schema?: { readonly openAPIV3Schema?: JsonSchemaProps };
  readonly subresources?: DefinitionSubresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

/** The spec as kube-apiserver validates it: what is the same in all versions stands beside them. */
export interface InternalSpec {
  readonly versions: readonly DefinitionVersion[];
  readonly shared: VersionParts;
}

const PARTS = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

/**
 * Compat: `Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec`. Field errors speak of
 * `spec.validation`, `spec.subresources`, … for what all versions have in common.
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
