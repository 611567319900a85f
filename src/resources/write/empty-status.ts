import { apiVersionOf, type Json } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import { storedApiVersion } from "../model/conversion.ts";
import type { ResourceDefinition } from "../model/definition.ts";
import { strategyOf } from "../strategies/strategy-of.ts";

const known = new WeakMap<ResourceDefinition, Json | undefined>();

/** The initial `status` of an object: the fields that its schema always writes. Undefined if there are none. */
export function emptyStatus(definition: ResourceDefinition): Json | undefined {
  if (!known.has(definition)) known.set(definition, computeEmptyStatus(definition));
  return cloneJson(known.get(definition));
}

function computeEmptyStatus(definition: ResourceDefinition): Json | undefined {
  const stored = storedApiVersion(definition);
  const version = definition.versions.find(({ name }) => apiVersionOf(definition.group, name) === stored);
  const { value } = strategyOf(definition).decode({}, (version ?? definition.versions[0])?.schema() ?? {});
  return value.status;
}
