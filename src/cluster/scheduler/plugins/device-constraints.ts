import type { DeviceConstraint } from "../../../kinds/built-in/resource/types.ts";
import type { NodeDevice } from "./device-pools.ts";

/** What the devices of a claim must have in common, or must not. Devices are removed in the reverse order. */
export class ConstraintCheck {
  readonly #requests: ReadonlySet<string>;
  readonly #attribute: string;
  readonly #isDistinct: boolean;
  readonly #values: string[] = [];

  constructor({ requests = [], matchAttribute, distinctAttribute = "" }: DeviceConstraint) {
    this.#requests = new Set(requests);
    this.#attribute = matchAttribute ?? distinctAttribute;
    this.#isDistinct = matchAttribute === undefined;
  }

  /** Returns whether the device fits those that were added before. It was not added if it does not. */
  add(requests: readonly string[], device: NodeDevice): boolean {
    if (!this.#concerns(requests)) return true;
    const value = attributeOf(device, this.#attribute);
    if (value === undefined) return false;
    const [first = value] = this.#values;
    if (this.#isDistinct ? this.#values.includes(value) : first !== value) return false;
    this.#values.push(value);
    return true;
  }

  /** Takes back the last `add`. */
  remove(requests: readonly string[]): void {
    if (this.#concerns(requests)) this.#values.pop();
  }

  /** `requests`: the name of the request, and of the alternative that was chosen. */
  #concerns(requests: readonly string[]): boolean {
    return this.#requests.size === 0 || requests.some((name) => this.#requests.has(name));
  }
}

/** An attribute by its qualified name. Names without a domain belong to the driver. Upstream: lookupAttribute */
function attributeOf({ driver, device: { attributes = {} } }: NodeDevice, name: string): string | undefined {
  const own = name.startsWith(`${driver}/`) ? name.slice(driver.length + 1) : undefined;
  const found = Object.entries(attributes).find(([key]) => key === name || key === own);
  return found && JSON.stringify(found[1]);
}
