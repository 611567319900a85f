/** The own member of an object, never one that every object inherits, such as `constructor`. */
export function getMember<T>(object: { readonly [member: string]: T }, member: string): T | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined;
}

/** Sets an own member, whatever its name; plain assignment to `__proto__` would change the prototype instead. */
export function setMember<T>(object: { [member: string]: T }, member: string, value: T): void {
  if (member === "__proto__") {
    Object.defineProperty(object, member, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[member] = value;
  }
}
