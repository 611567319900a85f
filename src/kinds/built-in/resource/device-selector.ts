import type { JsonObject } from "../../../base/api/object.ts";
import { memoize } from "../../../base/util/memoize.ts";
import type { Meter } from "../../../base/util/meter.ts";
import type { TypeProvider } from "../../../data/cel/environment.ts";
import { newExpressions } from "../../../data/cel/kubernetes/environment.ts";
import { quantityType, quantityValue } from "../../../data/cel/kubernetes/quantity.ts";
import { semverValue } from "../../../data/cel/kubernetes/semver.ts";
import { CompileError, compile, type Program, program } from "../../../data/cel/program.ts";
import { bindLibrary } from "../../../data/cel/standard/comprehensions.ts";
import { jsonValue } from "../../../data/cel/values/json.ts";
import { EntryMap } from "../../../data/cel/values/maps.ts";
import {
  boolType,
  dynType,
  isDyn,
  mapType,
  stringType,
  structType,
  type Type,
} from "../../../data/cel/values/types.ts";
import { CelError, MapValue, type Value } from "../../../data/cel/values/value.ts";
import type { Device, DeviceAttribute } from "./types.ts";

/** Upstream: CELSelectorExpressionMaxCost */
const MAX_COST = 1_000_000;

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

/** A device as selectors see it. */
export type SelectableDevice = Pick<Device, "attributes" | "capacity" | "allowMultipleAllocations"> & {
  readonly driver: string;
};

const programs = memoize(
  (expression: string): Program | CompileError => {
    const checked = compile(expression, env);
    return checked instanceof CompileError ? checked : program(checked, env);
  },
  { results: 1000, textLength: 10_000 },
);

/** Whether the expression of a DeviceSelector matches a device. Throws if it fails. Upstream: DeviceMatches */
export function selectorMatches(expression: string, device: SelectableDevice, meter: Meter): boolean {
  const compiled = programs(expression);
  if (compiled instanceof CompileError) throw new Error(`CEL compile error: ${compiled.message}`);
  const value = new DeviceValue(device);
  const result = compiled.evaluate((name) => (name === "device" ? value : undefined), MAX_COST, meter).value;
  if (result instanceof CelError) throw new Error(`CEL runtime error: ${result.message}`);
  if (typeof result !== "boolean") throw new Error("CEL runtime error: the result is not a bool");
  return result;
}

class DeviceValue extends MapValue {
  readonly #fields: ReadonlyMap<string, Value>;

  constructor({ driver, attributes = {}, capacity = {}, allowMultipleAllocations = false }: SelectableDevice) {
    super();
    this.#fields = new Map<string, Value>([
      ["driver", driver],
      ["allowMultipleAllocations", allowMultipleAllocations],
      ["attributes", new DomainMap(driver, attributes, attributeValue)],
      ["capacity", new DomainMap(driver, capacity, ({ value }) => quantityValue(String(value)))],
    ]);
  }

  get size(): number {
    return this.#fields.size;
  }

  find(key: Value): Value | undefined {
    return typeof key === "string" ? this.#fields.get(key) : undefined;
  }

  keys(): Iterable<Value> {
    return this.#fields.keys();
  }
}

/** Values by domain and name. Names without a domain belong to the driver's. An unknown domain is empty. */
class DomainMap extends MapValue {
  readonly #domains = new Map<string, EntryMap>();

  constructor(driver: string, values: Readonly<Record<string, JsonObject>>, read: (value: JsonObject) => Value) {
    super();
    for (const [name, value] of Object.entries(values)) {
      const slash = name.indexOf("/");
      const domain = slash < 0 ? driver : name.slice(0, slash);
      const known = this.#domains.get(domain) ?? new EntryMap();
      known.set(name.slice(slash + 1), read(value));
      this.#domains.set(domain, known);
    }
  }

  get size(): number {
    return this.#domains.size;
  }

  /** Upstream: newStringInterfaceMapWithDefault */
  find(key: Value): Value | undefined {
    return typeof key === "string" ? (this.#domains.get(key) ?? new EntryMap()) : undefined;
  }

  keys(): Iterable<Value> {
    return this.#domains.keys();
  }
}

/** Upstream: getAttributeValue */
function attributeValue({ string, version, ...others }: DeviceAttribute): Value {
  if (string !== undefined) return string;
  return version === undefined ? jsonValue(others.int ?? others.bool) : semverValue(version);
}
