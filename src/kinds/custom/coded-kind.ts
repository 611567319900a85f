import type { KubeObject } from "../../base/api/object.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { ResourceHooks } from "../../resources/model/definition.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import type { ObjectClient } from "../../resources/object-client.ts";
import type { Resources } from "../../resources/resources.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";

/** A kind defined by a program: a CustomResourceDefinition, and hooks. */
export interface CodedKind {
  /** The definition that a server applies when it starts. */
  readonly crd: CustomResourceDefinition;
  /** @internal */
  readonly hooks: ResourceHooks;
}

const FIELD_MANAGER = "binnacle-kinds";

/** The hooks of kinds, by the names of their CustomResourceDefinitions. */
export function hooksByName(kinds: readonly CodedKind[]): ReadonlyMap<string, ResourceHooks> {
  return new Map(kinds.map(({ crd, hooks }) => [crd.metadata.name ?? "", hooks]));
}

/** Applies the definitions of kinds, and resolves when all of them are served. Rejects if one is invalid. */
export async function applyKinds(
  kinds: readonly CodedKind[],
  { catalog }: Pick<Resources, "catalog">,
  client: ObjectClient,
  signal: AbortSignal,
): Promise<void> {
  if (kinds.length === 0) return;
  const definitions = storedResource(catalog, "apiextensions.k8s.io", "customresourcedefinitions");
  for (const { crd } of kinds) await client.apply(definitions, crd as KubeObject, { fieldManager: FIELD_MANAGER });
  const isServed = () => kinds.every(({ crd }) => find(catalog, crd) !== undefined);
  while (!isServed() && !signal.aborted) await nextChange(catalog, signal);
}

function find(catalog: Resources["catalog"], { spec = {} }: CustomResourceDefinition): ServedResource | undefined {
  const stored = spec.versions?.find(({ storage }) => storage);
  return catalog.find(spec.group ?? "", stored?.name ?? "", spec.names?.plural ?? "");
}

function nextChange(catalog: Resources["catalog"], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const stop = catalog.subscribe(end);
    signal.addEventListener("abort", end);
  });
}
