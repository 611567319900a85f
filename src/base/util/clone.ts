type Plain = null | undefined | boolean | number | string | Plain[] | { [member: string]: Plain };

/** A deep copy of a JSON value. Exact integers are frozen and shared. */
export function cloneJson<T>(value: T): T {
  return clone(value as Plain) as T;
}

function clone(value: Plain): Plain {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return value.map(clone);
  const out: { [member: string]: Plain } = {};
  for (const member of Object.keys(value)) {
    if (member === "__proto__") define(out, member, clone(value[member]));
    else out[member] = clone(value[member]);
  }
  return out;
}

// Assigning to `__proto__` would change the prototype instead of adding a member.
function define(target: object, member: string, value: Plain): void {
  Object.defineProperty(target, member, { value, enumerable: true, configurable: true, writable: true });
}
