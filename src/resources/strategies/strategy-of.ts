import type { ResourceDefinition } from "../model/definition.ts";
import { open } from "./open.ts";
import type { Strategy } from "./strategy.ts";
import { structural } from "./structural.ts";
import { typed } from "./typed.ts";

const STRATEGIES: Readonly<Record<ResourceDefinition["reading"], Strategy>> = { typed, structural, open };

/** The strategy for reading the objects of a kind. */
export function strategyOf({ reading }: Pick<ResourceDefinition, "reading">): Strategy {
  return STRATEGIES[reading];
}
