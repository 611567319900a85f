import type { TypeProvider } from "../../../data/cel/environment.ts";
import { newExpressions } from "../../../data/cel/kubernetes/environment.ts";
import { quantityType } from "../../../data/cel/kubernetes/quantity.ts";
import { CompileError, compile } from "../../../data/cel/program.ts";
import { bindLibrary } from "../../../data/cel/standard/comprehensions.ts";
import {
  boolType,
  dynType,
  isDyn,
  mapType,
  stringType,
  structType,
  type Type,
} from "../../../data/cel/values/types.ts";

const deviceType = structType("kubernetes.DRADevice");
const ofNames = (value: Type) => mapType(stringType, mapType(stringType, value));

const FIELDS: ReadonlyMap<string, Type> = new Map([
  ["driver", stringType],
  ["attributes", ofNames(dynType)],
  ["capacity", ofNames(quantityType)],
  ["allowMultipleAllocations", boolType],
]);

const types: TypeProvider = {
  findType: (name) => (name === deviceType.name ? deviceType : undefined),
  findField: (type, field) => (type === deviceType.name ? FIELDS.get(field) : undefined),
};

const env = newExpressions.extend({ libraries: [bindLibrary], types, variables: { device: deviceType } });

/**
 * The compile error of the expression of a DeviceSelector; undefined if it compiles. Upstream: `CompileCELExpression`.
 */
export function selectorProblem(expression: string): string | undefined {
  const checked = compile(expression, env);
  if (checked instanceof CompileError) return `compilation failed: ${checked.message}`;
  if (checked.type.kind === "bool" || isDyn(checked.type)) return undefined;
  return `must evaluate to bool or the unknown type, not ${checked.type.describe()}`;
}
